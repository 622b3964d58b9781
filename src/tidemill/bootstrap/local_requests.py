"""Requests to the web app without a socket: what a reader on this machine would be answered."""

from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from tidemill.bootstrap.system import System
from tidemill.bootstrap.web import Telemetry, web_deps, web_extensions
from tidemill.web.app import create_app

HOST = "127.0.0.1"
Message = MutableMapping[str, Any]
App = Callable[[Any, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
"""The web app as a server calls it."""


class LocalReader:
    """Asks the app for lists, page by page."""

    def __init__(self, app: App) -> None:
        """Ask this app."""
        self._app = app

    async def whole_list(self, address: str, **more: str) -> list[dict[str, Any]]:
        """Return all items of a list, however many pages it has."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            answer = msgspec.json.decode(await self.get(address, **more, **cursor))
            found += answer["items"]
            if answer["next"] is None:
                return found
            cursor = {"cursor": str(answer["next"])}

    async def get(self, address: str, **more: str) -> bytes:
        """Return the body of an answer; raise `RuntimeError` for one that is no success."""
        parts = urlsplit(address)
        query = "&".join(filter(None, (parts.query, urlencode(more))))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": parts.path,
            "raw_path": parts.path.encode(), "query_string": query.encode(), "root_path": "", "scheme": "http",
            "headers": [(b"host", HOST.encode())], "client": (HOST, 1), "server": (HOST, 80), "state": {},
        }  # fmt: skip
        sent: list[Message] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        status = next(each["status"] for each in sent if each["type"] == "http.response.start")
        body = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
        if status != HTTPStatus.OK:
            msg = f"{address} was answered with {status}: {body[:300].decode(errors='replace')}"
            raise RuntimeError(msg)
        return body


def _complain(words: str, error: BaseException) -> None:
    msg = f"the web app failed: {words}"
    raise RuntimeError(msg) from error


def local_reader(system: System) -> LocalReader:
    """Return a reader of a system's web app."""
    deps = web_deps(system, Telemetry(_complain), HOST)
    return LocalReader(create_app(deps, web_extensions(system, deps)))
