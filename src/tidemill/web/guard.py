"""Middleware around every response: allowed host names, and security headers."""

import ipaddress
from collections.abc import Callable, Collection, MutableMapping
from typing import Any

from h11 import LocalProtocolError
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidemill.web.auth.gate import quota_headers
from tidemill.web.responses import error_response

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"
)
"""Only our own files, nothing inline and nothing from other sites: scraped markup that is not escaped does nothing."""

ReportBug = Callable[[str, Exception], None]

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with `no-referrer` browsers send `Origin: null` along with our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class RequestGuard:
    """The outermost ASGI middleware, so that errors carry the headers too."""

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str] | None, report_bug: ReportBug) -> None:
        """Wrap `app`; exceptions are reported to `report_bug` and not raised."""
        self._app = app
        self._report_bug = report_bug
        self._allowed = None if allowed_hosts is None else frozenset(name.lower() for name in allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle or refuse a request; the response gets the headers either way."""
        scope["state"] = dict(scope.get("state") or {})
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._may_call(scope):
            await self._respond(*as_get(scope, receive, with_headers(scope, send)))
        else:
            response = error_response(421, "wrong_host", "This server is not called by that name.", HOST_HINT)
            await response(scope, receive, with_headers(scope, send))

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except LocalProtocolError:
            return  # a caller who broke off, or what came was not HTTP: the server has answered as far as it could
        except Exception as error:  # noqa: BLE001 - the framework has answered and passes the bug on to be reported
            self._report_bug(f"the web app broke at {scope['path']}", error)

    def _may_call(self, scope: Scope) -> bool:
        return self._allowed is None or (name := called_as(scope)) in self._allowed or is_address(name)


def as_get(scope: Scope, receive: Receive, send: Send) -> tuple[Scope, Receive, Send]:
    """Return a HEAD request as the GET that it asks about, whose body is not sent; a stream has no end to wait for."""
    if scope["method"] != "HEAD" or scope["path"].endswith("/stream"):
        return scope, receive, send

    async def without_body(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return {**scope, "method": "GET"}, receive, without_body


HOST_HINT = "Call it by the address it listens on, or allow the name in the settings (web_allowed_hosts)."


def called_as(scope: Scope) -> str:
    """Return the name in the Host header, without its port; '' if there is none, or more than one."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
    name, _, port = host.rpartition(":")
    return name if name and port.isdigit() else host


def is_address(name: str) -> bool:
    """Return whether we were called by an address: unlike a name, it cannot be made to mean us by somebody's DNS."""
    try:
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return False


def with_headers(scope: Scope, send: Send) -> Send:
    """Return `send` with the headers added; only static files may be cached."""
    fresh = "max-age=3600" if scope["path"].startswith("/static/") else "no-store"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add(message, fresh)
            if quota := scope["state"].get("quota"):
                MutableHeaders(scope=message).update(quota_headers(quota))
        await send(message)

    return sending


def _add(message: MutableMapping[str, Any], fresh: str) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)  # a stored page has a stricter policy of its own
    headers.setdefault("Cache-Control", fresh)
