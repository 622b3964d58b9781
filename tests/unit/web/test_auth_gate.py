"""What the gate lets through, and what it refuses, by role, origin and route."""

import pytest
from starlette.requests import Request

from tidemill.core.access.roles import Caller, CallerKind, Role
from tidemill.web.auth.gate import refuse, refuse_forgery
from tidemill.web.auth.permissions import PERMISSIONS, Need, need_of
from tidemill.web.auth.refusals import NotAllowed
from tidemill.web.portal.access import own_path

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


def with_form_token(value: str) -> Request:
    return request(x_csrf_token=value)


def caller(role: Role = Role.VIEWER, kind: CallerKind = CallerKind.TOKEN, **other: object) -> Caller:
    return Caller(name="Anna", kind=kind, role=role, key="1", **other)  # type: ignore[arg-type]


@pytest.mark.parametrize("need", list(Need))
@pytest.mark.parametrize("role", [None, *Role])
def test_each_role_gets_what_it_includes_and_nothing_more(need: Need, role: Role | None):
    who = None if role is None else caller(role)
    allowed = need is Need.OPEN or (role is not None and role.includes(need.role or Role.VIEWER))
    if allowed:
        refuse(request("192.0.2.7"), need, who, None, public_readers=False)
    else:
        with pytest.raises(NotAllowed) as refused:
            refuse(request("192.0.2.7"), need, who, None, public_readers=False)
        assert refused.value.status == (401 if who is None else 403)


def test_published_data_is_open_to_all_while_readers_are_public():
    refuse(request("192.0.2.7"), Need.READER, None, None, public_readers=True)


def test_this_machine_may_watch_without_a_token():
    refuse(request(), Need.WATCH, None, None, public_readers=False)
    with pytest.raises(NotAllowed):
        refuse(request("192.0.2.7"), Need.WATCH, None, None, public_readers=True)


def test_a_bound_token_touches_its_own_verticals_only():
    bound = caller(Role.ADMIN, verticals=frozenset({"prices"}))
    refuse(request(), Need.OPERATOR, bound, "prices", public_readers=False)
    for vertical in ("events", None):
        with pytest.raises(NotAllowed, match="bound to other kinds"):
            refuse(request(), Need.OPERATOR, bound, vertical, public_readers=False)


@pytest.mark.parametrize(
    "headers",
    [{"sec_fetch_site": "cross-site"}, {"origin": "https://elsewhere.example"}, {"origin": "null"}],
)
@pytest.mark.parametrize("kind", [CallerKind.LOCAL, CallerKind.PERSON])
async def test_another_sites_page_may_not_act_through_a_browser(headers: dict[str, str], kind: CallerKind):
    with pytest.raises(NotAllowed, match="Another site"):
        await refuse_forgery(request(**headers), caller(kind=kind), Need.OPERATOR)


async def test_a_session_acts_only_with_the_token_of_its_forms():
    signed_in = caller(kind=CallerKind.PERSON, csrf="right")
    await refuse_forgery(with_form_token("right"), signed_in, Need.OPERATOR)
    with pytest.raises(NotAllowed, match="out of date"):
        await refuse_forgery(with_form_token("wrong"), signed_in, Need.OPERATOR)


def test_a_route_without_a_row_is_an_admins():
    assert need_of("POST", "/api/v1/unheard-of", PERMISSIONS) is Need.ADMIN


@pytest.mark.parametrize("path", ["https://elsewhere.example", "//elsewhere.example", "/\\elsewhere", "javascript:1"])
def test_signing_in_leads_nowhere_else(path: str):
    assert own_path(path) == "/"
    assert own_path("/runs?cursor=3") == "/runs?cursor=3"
