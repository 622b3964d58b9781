"""Where a request comes from: this machine or another, our own pages or somebody else's."""

import ipaddress

from starlette.requests import Request

OWN_SITES = frozenset({None, "same-origin", "none"})


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


def is_same_site(request: Request) -> bool:
    """Return whether no page of another site sent the request through a browser."""
    return request.headers.get("sec-fetch-site") in OWN_SITES and is_own_origin(request)


def address_of_caller(request: Request) -> str:
    """Return the caller's address for the audit log."""
    return request.client.host if request.client else ""
