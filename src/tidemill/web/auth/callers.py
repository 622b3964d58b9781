"""Recognises who sends a request: a token, a session, or a program on this machine while nobody can sign in."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request

from tidemill.core.access.roles import Caller, CallerKind, Role
from tidemill.operations.access.people import PeopleActions
from tidemill.operations.access.signing_in import SignInActions
from tidemill.operations.access.tokens import TokenActions
from tidemill.store.access.idempotency import IdempotencyRepository
from tidemill.web.auth.origins import is_local, is_same_site
from tidemill.web.auth.refusals import NotAllowed

SECURE_COOKIE = "__Host-tidemill"
PLAIN_COOKIE = "tidemill"
"""The name on plain HTTP, which is taken on this machine only: browsers refuse the secure one there."""

LOCAL = Caller(name="local", kind=CallerKind.LOCAL, role=Role.ADMIN, key="local")
ANONYMOUS_VIEWER = Caller(name="anonymous", kind=CallerKind.LOCAL, role=Role.VIEWER, key="anonymous")
"""Whoever reaches us while nobody can sign in and this is no program on this machine: reads, changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDeps:
    """What the gate knows callers by.

    `api_token` is the operator's token of the settings, `watch_token` lets a monitor read figures. `public_readers`
    lets anybody read what is published.
    """

    people: PeopleActions
    signing_in: SignInActions
    tokens: TokenActions
    answers: IdempotencyRepository
    new_secret: Callable[[], str]
    api_token: str | None = field(default=None, repr=False)
    watch_token: str | None = field(default=None, repr=False)
    public_readers: bool = True


RecogniseCaller = Callable[[Request], Awaitable[Caller | None]]


def cookie_name(request: Request) -> str:
    """Return the name of the session's cookie on this connection."""
    return SECURE_COOKIE if request.url.scheme == "https" else PLAIN_COOKIE


def bearer(request: Request) -> str:
    """Return the token of the Authorization header, '' if there is none."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if kind.lower() == "bearer" else ""


def recogniser(access: AccessDeps) -> RecogniseCaller:
    """Return what tells who sends a request; None is somebody unknown."""

    async def recognise(request: Request) -> Caller | None:
        if request.headers.get("authorization"):
            return await _by_token(request, access)
        if secret := request.cookies.get(cookie_name(request)):
            found = await access.signing_in.recognise(secret)
            if found is not None:
                return found
        return await _without_credentials(request, access)

    return recognise


def still_known(access: AccessDeps) -> Callable[[Request], Awaitable[bool]]:
    """Return what tells whether a request that was let in would still be recognised."""
    recognise = recogniser(access)

    async def is_still_known(request: Request) -> bool:
        try:
            return await recognise(request) is not None
        except NotAllowed:
            return False

    return is_still_known


async def _by_token(request: Request, access: AccessDeps) -> Caller:
    given = bearer(request)
    for token, caller in ((access.api_token, _SETTINGS), (access.watch_token, _WATCHER)):
        if token and secrets.compare_digest(given.encode(), token.encode()):
            return caller
    found = await access.tokens.recognise(given)
    if found is None:
        raise NotAllowed(401, "This token is not known, has ended or was revoked.", "Make a new one.")
    return found


_SETTINGS = Caller(name="api", kind=CallerKind.TOKEN, role=Role.OPERATOR, key="token of the settings")
_WATCHER = Caller(name="watcher", kind=CallerKind.TOKEN, role=Role.VIEWER, key="watch token", verticals=frozenset())


async def _without_credentials(request: Request, access: AccessDeps) -> Caller | None:
    if not await access.people.is_empty():
        return None
    if access.api_token is None and is_local(request) and is_same_site(request):
        return LOCAL
    return ANONYMOUS_VIEWER
