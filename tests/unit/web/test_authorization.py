"""Only whoever holds the token acts; without one, only a program on this machine."""

from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from tidemill.web.authorization import NotAllowed, require_actor

pytestmark = pytest.mark.shows("A4")


def request(client: str = "127.0.0.1", **headers: str) -> Request:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8420"), *named],
        "client": (client, 5000),
        "server": ("127.0.0.1", 8420),
    }
    return Request(scope)


def deps(token: str | None = None) -> Any:
    return SimpleNamespace(api_token=token)


async def test_a_program_on_this_machine_may_act_when_there_is_no_token():
    assert await require_actor(deps())(request()) == "api"
    assert await require_actor(deps())(request("::1", x_acting_as="Anna")) == "Anna"


@pytest.mark.parametrize("client", ["192.0.2.7", "10.0.0.1", "testclient"])
async def test_another_machine_may_not_without_a_token(client: str):
    with pytest.raises(NotAllowed, match="only taken from this machine") as refused:
        await require_actor(deps())(request(client))
    assert refused.value.status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
    ],
)
async def test_another_sites_page_may_not_act_through_a_browser_here(headers: dict[str, str]):
    with pytest.raises(NotAllowed, match="Another site"):
        await require_actor(deps())(request(**headers))


async def test_our_own_pages_may_act():
    allowed = request(sec_fetch_site="same-origin", origin="http://127.0.0.1:8420")
    assert await require_actor(deps())(allowed) == "api"


@pytest.mark.parametrize("given", ["", "Bearer wrong", "Basic secret", "Bearer", "secret"])
async def test_with_a_token_set_nobody_acts_without_it_not_even_here(given: str):
    with pytest.raises(NotAllowed) as refused:
        await require_actor(deps("secret"))(request(authorization=given))
    assert refused.value.status == 401
    assert "secret" not in str(refused.value)


async def test_the_token_lets_anyone_act():
    assert await require_actor(deps("secret"))(request("192.0.2.7", authorization="Bearer secret")) == "api"


async def test_the_name_in_the_audit_is_bounded_and_printable():
    name = await require_actor(deps())(request(x_acting_as="A\x07nna" + "x" * 200))
    assert name.startswith("Annax")
    assert len(name) == 80
