"""The gate before every route: who sends this, may they, and is it really them."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from tidemill.core.access.quota import QuotaState, RequestQuota
from tidemill.core.access.roles import Caller, CallerKind, Role
from tidemill.pipeline.ports import Clock, StoreError
from tidemill.web.auth.callers import ANONYMOUS_VIEWER, AccessDeps, RecogniseCaller, recogniser
from tidemill.web.auth.origins import is_local, is_own_origin, is_same_site
from tidemill.web.auth.permissions import Need, Permissions, need_of, plain_path
from tidemill.web.auth.refusals import NotAllowed

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"

CURRENT_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Who sends the request that is being answered, for what pages show of them."""

Gate = Callable[[Request], Awaitable[None]]


def build_gate(
    access: AccessDeps, clock: Clock, permissions: Permissions, vertical_of: Mapping[tuple[str, str], str]
) -> Gate:
    """Return the dependency of every route; it leaves the caller in `request.state.caller`."""
    recognise, quota = recogniser(access), RequestQuota()

    async def gate(request: Request) -> None:
        method = "GET" if request.method == "HEAD" else request.method
        route = (method, plain_path(request.scope["route"].path))
        need = need_of(*route, permissions)
        caller = await _recognised(recognise, request, need)
        request.state.caller = caller
        CURRENT_CALLER.set(caller)
        _limit(request, caller, quota, clock)
        if method not in SAFE_METHODS:
            await refuse_forgery(request, caller, need)
        refuse(request, need, caller, vertical_of.get(route), public_readers=access.public_readers)

    return gate


async def _recognised(recognise: RecogniseCaller, request: Request, need: Need) -> Caller | None:
    """Return who asks. While the database is away nobody can be told: a page then says that, and shows nothing else."""
    if not _asks_who(request, need):
        return None
    try:
        return await recognise(request)
    except (StoreError, TimeoutError):
        if need is Need.ADMIN or request.method not in SAFE_METHODS:
            raise
        return ANONYMOUS_VIEWER


def _asks_who(request: Request, need: Need) -> bool:
    """Return whether it matters who asks: whether we are alive is told while the database is away, too."""
    has_credentials = "authorization" in request.headers or "cookie" in request.headers
    return has_credentials or not (need is Need.OPEN or (need is Need.WATCH and is_local(request)))


def refuse(request: Request, need: Need, caller: Caller | None, vertical: str | None, *, public_readers: bool) -> None:
    """Raise `NotAllowed` unless the caller has what the route needs."""
    if need is Need.OPEN or (need is Need.READER and public_readers):
        return
    if need is Need.WATCH and (is_local(request) or (caller is not None and caller.key == "watch token")):
        return
    if caller is None:
        raise NotAllowed(401, "Sign in, or send a token, to see this.", "Send it as `Authorization: Bearer TOKEN`.")
    needed = need.role or Role.VIEWER
    if not caller.role.includes(needed):
        raise NotAllowed(403 if caller.name != "anonymous" else 401, *_too_little(caller, needed))
    if caller.verticals is not None and (vertical is None or not caller.may_use(vertical)):
        raise NotAllowed(403, "This token is bound to other kinds of data.", "Use one without that bound.")


def _too_little(caller: Caller, needed: Role) -> tuple[str, str]:
    if caller.name == "anonymous":
        return "A token is needed to change anything.", "Send it as `Authorization: Bearer TOKEN`, or sign in."
    return f"This needs the role {needed}; {caller.name} has {caller.role}.", "Ask an admin."


async def refuse_forgery(request: Request, caller: Caller | None, need: Need) -> None:
    """Raise `NotAllowed` when another site's page may have sent this through somebody's browser."""
    if caller is not None and caller.kind is CallerKind.TOKEN:
        return
    if not is_same_site(request):
        raise NotAllowed(403, "Another site's page may not act here.", "Call the API from a program, or use our pages.")
    if caller is None or caller.kind is not CallerKind.PERSON or need is Need.OPEN:
        return
    given = request.headers.get(CSRF_HEADER) or str((await request.form()).get(CSRF_FIELD, ""))
    if not is_own_origin(request) or not secrets.compare_digest(given.encode(), caller.csrf.encode()):
        raise NotAllowed(403, "This form is out of date.", "Load the page again and repeat what you did.")


def _limit(request: Request, caller: Caller | None, quota: RequestQuota, clock: Clock) -> None:
    if caller is None or caller.kind is not CallerKind.TOKEN:
        return
    state = quota.take(caller.key, clock.now(), acts=request.method not in SAFE_METHODS)
    request.scope["state"]["quota"] = state
    if state.is_exceeded:
        words = f"This token may send {state.limit} such requests a minute."
        raise NotAllowed(429, words, f"Try again in {state.reset_seconds} seconds.", state.reset_seconds)


def quota_headers(state: QuotaState) -> dict[str, str]:
    """Return the headers by which a program learns what is left."""
    return {
        "RateLimit-Limit": str(state.limit),
        "RateLimit-Remaining": str(state.remaining),
        "RateLimit-Reset": str(state.reset_seconds),
    }


def caller_of(request: Request) -> Caller:
    """Return who the gate let through; raise `NotAllowed` for somebody unknown."""
    caller: Caller | None = request.state.caller
    if caller is None:
        raise NotAllowed(401, "Sign in to do this.", "Send a token, or sign in.")
    return caller


async def actor_name(request: Request) -> str:
    """Return the caller's name for the audit log."""
    return caller_of(request).name


ActorName = Annotated[str, Depends(actor_name)]
"""Who acts, for the audit log: a parameter of every route that changes something."""
