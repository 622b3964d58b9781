"""Authorization of changes over HTTP: by token; without one, only for programs on this machine.

A page in somebody's browser must not act for them. The token travels in a header that a browser never sends by
itself; and where no token is set, a request that a browser says comes from another site is refused.
"""

import ipaddress
import secrets
from collections.abc import Awaitable, Callable

from starlette.requests import Request

from tidemill.web.deps import WebDeps

LONGEST_NAME = 80
OWN_SITES = frozenset({None, "same-origin", "none"})

RequireActor = Callable[[Request], Awaitable[str]]


class NotAllowed(Exception):
    """The caller may not change anything; `status` is 401 when a token would help, else 403."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        """`hint` says what would help."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint


def require_actor(deps: WebDeps) -> RequireActor:
    """Return the dependency of every route that changes something: the caller's name for the audit, or an error."""

    async def check(request: Request) -> str:
        if deps.api_token:
            require_token(request, deps.api_token)
        else:
            require_local(request)
        return actor_name(request)

    return check


def require_token(request: Request, token: str) -> None:
    """Raise `NotAllowed` unless the request has the token."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), token.encode()):
        raise NotAllowed(401, "A token is needed to change anything.", "Send it as `Authorization: Bearer TOKEN`.")


def require_local(request: Request) -> None:
    """Raise `NotAllowed` for requests from other machines, and from other sites' pages in a local browser."""
    if not is_local(request):
        raise NotAllowed(403, "Changes are only taken from this machine.", "Set `api_token` to act from elsewhere.")
    if request.headers.get("sec-fetch-site") not in OWN_SITES or not is_own_origin(request):
        raise NotAllowed(
            403, "Another site's page may not act here.", "Call the API from a program, or from our pages."
        )


def is_local(request: Request) -> bool:
    """Return whether the caller is on this machine."""
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def is_own_origin(request: Request) -> bool:
    """Return whether the request has no Origin header or our own."""
    origin = request.headers.get("origin")
    return origin is None or origin == f"{request.url.scheme}://{request.headers.get('host', '')}"


def actor_name(request: Request) -> str:
    """Return the caller's name for the audit; it is unverified, so bounded and printable."""
    name = "".join(each for each in request.headers.get("x-acting-as", "") if each.isprintable()).strip()
    return name[:LONGEST_NAME] or "api"
