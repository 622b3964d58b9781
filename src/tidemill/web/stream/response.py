"""A stream as an HTTP response: headers, then events until either side ends it."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidemill.web.stream.hub import StreamCaller, StreamHub
from tidemill.web.stream.limits import StreamLimits
from tidemill.web.stream.reader import StreamReader, Wanted
from tidemill.web.stream.resource import StreamedResource

HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
KERNEL_BYTES = 64 * 1024
BUFFERED_BYTES = 16 * 1024
"""What waits in the kernel and in the process for a slow reader: more would hide that it is slow."""


class EventStreamResponse(Response):
    """Runs a reader on the connection; HEAD gets the headers alone."""

    def __init__(
        self,
        hub: StreamHub,
        resource: StreamedResource,
        wanted: Wanted,
        limits: StreamLimits,
        identity: str,
        caller: StreamCaller | None = None,
    ) -> None:
        """`identity` is whose streams are counted, `caller` who is sent away when it is known no more."""
        super().__init__(status_code=200, headers=HEADERS)
        del self.headers["content-length"]
        self._hub = hub
        self._resource = resource
        self._wanted = wanted
        self._limits = limits
        self._identity = identity
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the headers and run the reader until it is done."""
        is_head = scope["method"] == "HEAD"
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if not is_head:
                await self._run(scope, receive, send)
            with suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._limits.release(self._identity)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_bytes(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        transport = scope.get("state", {}).get("transport")
        bound_buffers(transport)
        reader = StreamReader(self._hub, self._resource, self._wanted, send_bytes)
        reader.caller = self._caller
        if transport is not None:
            reader.cut = transport.abort
        leaving = asyncio.create_task(wait_until_gone(receive, reader))
        try:
            await reader.run()
        except OSError:
            reader.gone()
        finally:
            leaving.cancel()


async def wait_until_gone(receive: Receive, reader: StreamReader) -> None:
    """Tell the reader when the other side closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.gone()


def bound_buffers(transport: Any) -> None:
    """Keep little in buffers, so that a slow reader is noticed while little waits for it."""
    if transport is None:
        return
    transport.set_write_buffer_limits(high=BUFFERED_BYTES)
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
