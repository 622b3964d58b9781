"""Signing in, roles, tokens, forms: the gate before every route, over real HTTP on real databases."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from sqlalchemy import select
from starlette.routing import Mount

from integration.web.conftest import Browser, browsing, deps_of
from rig.clock import SettableClock
from tidemill.bootstrap.system import System
from tidemill.bootstrap.web import web_extensions
from tidemill.core.access.roles import Role, TokenScope
from tidemill.store.schema import idempotency_keys
from tidemill.web.app import create_app
from tidemill.web.auth.permissions import PERMISSIONS, Need, plain_path

pytestmark = pytest.mark.shows("A4")

PASSWORD, WRONG = "herring on the quay", "herring in the sky"
DEEDS = {
    TokenScope.READ: "/api/v1/sources",
    TokenScope.ACT: "/api/v1/breakers/reset",
    TokenScope.ADMIN: "/api/v1/people",
}


class Visitor:
    """Somebody with a browser: keeps cookies, fills in forms."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(self.address + path, headers={"Accept": "text/html"}) as response:
            return response.status, await response.text()

    async def post(self, path: str, headers: Any = None, **fields: Any) -> tuple[int, str]:
        async with self.session.post(
            self.address + path, data=fields, headers={"Accept": "text/html", **(headers or {})}, allow_redirects=False
        ) as response:
            return response.status, await response.text()

    async def csrf(self, path: str = "/account") -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', (await self.get(path))[1])
        assert found
        return found[1]


@pytest.fixture
async def visitor(browser: Browser) -> AsyncIterator[Visitor]:
    made = Visitor(browser.address)
    yield made
    await made.session.close()


async def call(browser: Browser, method: str, path: str, **other: Any) -> tuple[int, Any, Any]:
    async with browser._session.request(method, browser.address + path, **other) as response:
        return response.status, await response.text(), response.headers


def by(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def first_admin(system: System, visitor: Visitor) -> None:
    link = await system.actions.people.first_link("test")
    status, _ = await visitor.post("/welcome", link=link, name="anna", password=PASSWORD, again=PASSWORD)
    assert status == 303


async def test_the_first_link_makes_an_admin_once(system: System, visitor: Visitor) -> None:
    link = await system.actions.people.first_link("test")
    assert "Make the first admin" in (await visitor.get(f"/welcome?link={link}"))[1]
    chosen = {"link": link, "name": "anna", "password": PASSWORD, "again": PASSWORD}
    assert (await visitor.post("/welcome", **{**chosen, "again": "other"}))[0] == 422
    assert (await visitor.post("/welcome", **chosen))[0] == 303
    assert "anna" in (await visitor.get("/account"))[1]
    status, text = await visitor.post("/welcome", **chosen)
    assert (status, "used already" in text) == (422, True)


async def test_a_link_that_is_too_old_makes_nobody(system: System, visitor: Visitor, clock: SettableClock) -> None:
    link = await system.actions.people.first_link("test")
    clock.advance(timedelta(minutes=16))
    assert (await visitor.get(f"/welcome?link={link}"))[0] == 422
    assert await system.actions.people.is_empty()


async def test_once_somebody_can_sign_in_nobody_acts_unknown(
    system: System, browser: Browser, visitor: Visitor
) -> None:
    assert (await call(browser, "POST", "/api/v1/breakers/reset"))[0] == 200
    await first_admin(system, visitor)
    assert (await call(browser, "POST", "/api/v1/breakers/reset"))[0] == 401
    assert (await call(browser, "GET", "/api/v1/sources"))[0] == 401
    assert (await call(browser, "GET", "/api/v1/events"))[0] == 200
    assert (await call(browser, "GET", "/health"))[0] == 503  # nobody works here
    page = await call(browser, "GET", "/sources", headers={"Accept": "text/html"}, allow_redirects=False)
    assert (page[0], page[2]["Location"]) == (303, "/sign-in?next=/sources")


async def test_signing_in_gives_a_new_id_and_signing_out_ends_it(system: System, visitor: Visitor) -> None:
    await first_admin(system, visitor)
    (before,) = [each.value for each in visitor.session.cookie_jar]
    assert (await visitor.post("/sign-in", name="anna", password=PASSWORD, next="/runs"))[0] == 303
    (cookie,) = list(visitor.session.cookie_jar)
    assert cookie.value != before
    assert (cookie["httponly"], cookie["samesite"]) == (True, "lax")
    assert (await visitor.post("/account/sign-out", csrf=await visitor.csrf()))[0] == 303
    visitor.session.cookie_jar.update_cookies({"tidemill": cookie.value})
    assert (await visitor.get("/api/v1/me"))[0] == 401


async def test_a_form_without_its_token_changes_nothing(system: System, visitor: Visitor) -> None:
    await first_admin(system, visitor)
    assert (await visitor.post("/people", name="ben", role="viewer"))[0] == 403
    stolen = {"csrf": await visitor.csrf(), "name": "ben", "role": "viewer"}
    assert (await visitor.post("/people", headers={"Origin": "https://elsewhere.example"}, **stolen))[0] == 403
    assert (await visitor.post("/people", headers={"Sec-Fetch-Site": "cross-site"}, **stolen))[0] == 403
    assert [each.name for each in await system.actions.people.every()] == ["anna"]
    assert (await visitor.post("/people", **stolen))[0] == 201


async def test_five_wrong_passwords_lock_name_and_address_alike_for_names_there_are_not(
    system: System, visitor: Visitor, clock: SettableClock
) -> None:
    await first_admin(system, visitor)
    answers = [await visitor.post("/sign-in", name="anna", password=WRONG) for _ in range(5)]
    unknown = await visitor.post("/sign-in", name="nobody", password=WRONG)
    assert {status for status, _ in answers} == {401}
    assert all("do not go together" in text for _, text in answers)
    assert "Too many wrong tries" in unknown[1]
    assert "Too many wrong tries" in (await visitor.post("/sign-in", name="anna", password=PASSWORD))[1]
    clock.advance(timedelta(minutes=1, seconds=1))
    assert (await visitor.post("/sign-in", name="anna", password=PASSWORD))[0] == 303


async def test_an_unknown_name_costs_as_much_work_as_a_wrong_password(system: System, visitor: Visitor) -> None:
    await first_admin(system, visitor)
    passwords = system.actions.signing_in._passwords
    verified: list[str | None] = []
    real = passwords._verify

    def counted(stored: str | None, password: str) -> bool:
        verified.append(stored)
        return real(stored, password)

    passwords._verify = counted  # type: ignore[method-assign]  # counts the real thing
    first = await visitor.post("/sign-in", name="nobody", password=WRONG)
    second = await visitor.post("/sign-in", name="anna", password=WRONG)
    assert first == second
    assert [each is None for each in verified] == [True, False]


@pytest.mark.parametrize("scope", list(TokenScope))
async def test_a_token_does_what_its_scope_includes(system: System, browser: Browser, scope: TokenScope) -> None:
    made = await system.actions.tokens.make("robot", scope, "test")
    for needed, path in DEEDS.items():
        method = "POST" if needed is TokenScope.ACT else "GET"
        status, _, headers = await call(browser, method, path, headers=by(made.secret))
        assert status == (200 if scope.role.includes(needed.role) else 403), path
        assert int(headers["RateLimit-Remaining"]) < int(headers["RateLimit-Limit"])


async def test_tokens_end_are_revoked_and_are_used_up(system: System, browser: Browser, clock: SettableClock) -> None:
    short = await system.actions.tokens.make("short", TokenScope.ACT, "test", days=1)
    revoked = await system.actions.tokens.make("revoked", TokenScope.ACT, "test")
    await system.actions.tokens.revoke(revoked.token.id, "test")
    assert (await call(browser, "GET", "/api/v1/me", headers=by(revoked.secret)))[0] == 401
    assert (await call(browser, "GET", "/api/v1/me", headers=by("tm_made-up")))[0] == 401
    answers = [await call(browser, "POST", "/api/v1/breakers/reset", headers=by(short.secret)) for _ in range(61)]
    assert [status for status, _, _ in answers[:60]] == [200] * 60
    assert (answers[60][0], answers[60][2]["Retry-After"]) == (429, "60")
    clock.advance(timedelta(days=1))
    assert (await call(browser, "GET", "/api/v1/me", headers=by(short.secret)))[0] == 401


async def test_who_acts_is_in_the_audit_log_and_no_secret_is(system: System, browser: Browser) -> None:
    made = await system.actions.tokens.make("robot", TokenScope.ADMIN, "test")
    headers = {**by(made.secret), "X-Acting-As": "the queen"}
    await call(browser, "POST", "/api/v1/people", headers=headers, json={"name": "ben", "role": "viewer"})
    _, text, _ = await call(browser, "GET", "/api/v1/audit", headers=headers)
    assert "token robot" in text
    assert "the queen" not in text
    assert made.secret not in text
    assert made.secret not in (await call(browser, "GET", "/api/v1/tokens", headers=headers))[1]


async def test_the_last_admin_stays(system: System, visitor: Visitor, browser: Browser) -> None:
    await first_admin(system, visitor)
    made = await system.actions.tokens.make("robot", TokenScope.ADMIN, "test")
    for change in ({"role": "viewer"}, {"disabled": True}):
        status, text, _ = await call(browser, "PATCH", "/api/v1/people/anna", headers=by(made.secret), json=change)
        assert (status, "no admin left" in text) == (409, True)
    assert (await call(browser, "DELETE", "/api/v1/people/anna", headers=by(made.secret)))[0] == 409


async def test_a_role_that_changes_ends_the_sessions(system: System, visitor: Visitor) -> None:
    await first_admin(system, visitor)
    await system.actions.people.invite("ben", Role.ADMIN, "test")
    await system.actions.people.change_role("anna", Role.VIEWER, "test")
    assert (await visitor.get("/api/v1/me"))[0] == 401


async def test_every_route_has_a_row_and_every_row_a_route(sqlite_system: System) -> None:
    deps = deps_of(sqlite_system)
    extensions = web_extensions(sqlite_system, deps)
    app = create_app(deps, extensions)
    known = set(PERMISSIONS).union(*(extension.permissions for extension in extensions))
    assert {each for each in routes_of(app.routes) if each[0] != "HEAD"} == known


def routes_of(routes: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for route in routes:
        if isinstance(route, Mount):
            continue
        inner = getattr(route, "original_router", None)
        found += (
            routes_of(inner.routes) if inner is not None else [(each, plain_path(route.path)) for each in route.methods]
        )
    return found


class Robot:
    """A program with a token of one scope, renewed when it is used up."""

    def __init__(self, system: System, browser: Browser, scope: TokenScope) -> None:
        self._system, self._browser, self.scope = system, browser, scope
        self._secret = ""

    async def status(self, method: str, path: str) -> int:
        """What a request is answered with, whatever it was sent for."""
        for _ in range(2):
            if not self._secret:
                self._secret = (await self._system.actions.tokens.make("robot", self.scope, "test")).secret
            headers = by(self._secret)
            status, _, answered = await call(self._browser, method, path, headers=headers, allow_redirects=False)
            if status != 429 or "RateLimit-Remaining" not in answered:
                return status
            self._secret = ""
        return status


async def test_every_caller_gets_past_the_rows_of_their_role_and_no_other(
    sqlite_system: System, sqlite_browser: Browser
) -> None:
    """Walk every route, pages and forms included, as nobody and with each scope: refused exactly where it must be."""
    await sqlite_system.actions.people.redeem(await sqlite_system.actions.people.first_link("test"), "anna", PASSWORD)
    rows = dict(PERMISSIONS)
    for extension in web_extensions(sqlite_system, deps_of(sqlite_system)):
        rows |= extension.permissions
    robots = [Robot(sqlite_system, sqlite_browser, scope) for scope in TokenScope]
    holes: list[tuple[str, ...]] = []
    for (method, path), need in sorted(rows.items()):
        concrete = re.sub(r"\{[^}]+\}", "1", path)
        if need in {Need.VIEWER, Need.OPERATOR, Need.ADMIN}:
            status, _, _ = await call(sqlite_browser, method, concrete, allow_redirects=False)
            holes += [("nobody", method, path, str(status))] if status != 401 else []
        for robot in robots:
            may = need.role is None or robot.scope.role.includes(need.role)
            if may and concrete.endswith("/stream"):
                continue  # it would go on for ever
            status = await robot.status(method, concrete)
            if (status in {401, 403}) is may or status in {405, 429, 500}:
                holes.append((str(robot.scope), method, path, str(status)))
    assert holes == []


async def test_a_request_sent_twice_with_a_key_acts_once(browser: Browser) -> None:
    headers = {"Idempotency-Key": "abc"}
    first = await call(browser, "POST", "/api/v1/breakers/reset", headers=headers)
    second = await call(browser, "POST", "/api/v1/breakers/reset", headers=headers)
    assert (first[0], second[0], second[1]) == (200, 200, first[1])
    assert second[2]["Idempotent-Replayed"] == "true"
    other = await call(browser, "POST", "/api/v1/jobs/requeue-stale", headers=headers, json={})
    assert other[0] == 422


async def test_a_refused_request_may_be_sent_again_with_its_key(browser: Browser) -> None:
    headers = {"Idempotency-Key": "abc"}
    answers = [await call(browser, "POST", "/api/v1/dead-letters/7/retry", headers=headers) for _ in range(2)]
    assert [status for status, _, _ in answers] == [404, 404]
    assert all("Idempotent-Replayed" not in answer for _, _, answer in answers)


async def test_a_secret_is_never_kept_for_a_second_request(system: System, browser: Browser) -> None:
    headers, wanted = {"Idempotency-Key": "abc"}, {"name": "robot", "scope": "read"}
    first = await call(browser, "POST", "/api/v1/tokens", headers=headers, json=wanted)
    second = await call(browser, "POST", "/api/v1/tokens", headers=headers, json=wanted)
    assert (first[0], second[0], "tm_" in first[1], "tm_" in second[1]) == (201, 409, True, False)
    assert len(await system.actions.tokens.every()) == 1
    async with system.store.database.read() as connection:
        kept = (await connection.execute(select(idempotency_keys.c.body))).scalars().all()
    assert not any("tm_" in body for body in kept)


async def test_what_has_not_changed_is_not_sent_again(browser: Browser) -> None:
    _, text, headers = await call(browser, "GET", "/api/v1/adapters")
    again = await call(browser, "GET", "/api/v1/adapters", headers={"If-None-Match": headers["ETag"]})
    assert (again[0], again[1]) == (304, "")
    head = await call(browser, "HEAD", "/api/v1/adapters")
    assert (head[0], head[1], head[2]["Content-Length"]) == (200, "", str(len(text.encode())))


async def test_readers_may_be_kept_out(sqlite_system: System) -> None:
    deps = deps_of(sqlite_system)
    link = await sqlite_system.actions.people.first_link("test")
    await sqlite_system.actions.people.redeem(link, "anna", PASSWORD)
    access = type(deps.access)(**{
        name: getattr(deps.access, name) for name in deps.access.__slots__ if name != "public_readers"
    }, public_readers=False)  # fmt: skip
    async for browser in browsing(sqlite_system, access=access):
        assert (await browser.get("/api/v1/events")).status == 401
