"""A server that breaks HTTP in every way that servers do: each path is answered byte for byte, and wrongly.

`python -m tidemill.lab.broken_http` prints one line of JSON with its origin and serves until its standard input
closes. `BREAKAGES` says what can be made of each path: the whole page, a part of it, or nothing.
"""

import asyncio
from contextlib import suppress
from enum import StrEnum
from types import TracebackType
from typing import Self

import msgspec

from tidemill.lab.lifetime import print_json, until_stopped

BODY = b"<html><body><h1>Agenda</h1><p>Concert, 12 mei</p></body></html>"
_HTML = b"Content-Type: text/html; charset=utf-8\r\n"
_LENGTH = b"Content-Length: %d\r\n" % len(BODY)
_PLAIN = _HTML + _LENGTH + b"\r\n" + BODY


class Readable(StrEnum):
    """What there is to be read in a broken answer."""

    WHOLE = "whole"
    PART = "part"
    NOTHING = "nothing"


class Breakage(msgspec.Struct, frozen=True):
    """One way to break HTTP: the bytes that are sent before hanging up, and what can be made of them."""

    answer: bytes
    readable: Readable


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


_CHUNKED = b"HTTP/1.1 200 OK\r\n" + _HTML + b"Transfer-Encoding: chunked\r\n\r\n"
_WHOLE, _PART, _NOTHING = Readable.WHOLE, Readable.PART, Readable.NOTHING

BREAKAGES: dict[str, Breakage] = {
    "bare-lf": Breakage(b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n" % len(BODY) + BODY, _WHOLE),
    "no-length": Breakage(b"HTTP/1.1 200 OK\r\n" + _HTML + b"\r\n" + BODY, _WHOLE),
    "http-1.0": Breakage(b"HTTP/1.0 200 OK\r\n" + _HTML + b"\r\n" + BODY, _WHOLE),
    "no-reason": Breakage(b"HTTP/1.1 200\r\n" + _PLAIN, _WHOLE),
    "header-without-colon": Breakage(b"HTTP/1.1 200 OK\r\nServer running\r\n" + _PLAIN, _NOTHING),
    "header-with-a-space": Breakage(b"HTTP/1.1 200 OK\r\nX Powered By: PHP\r\n" + _PLAIN, _WHOLE),
    "header-with-a-nul": Breakage(b"HTTP/1.1 200 OK\r\nX-Old: a\x00b\r\n" + _PLAIN, _NOTHING),
    "folded-header": Breakage(b"HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n" + _PLAIN, _WHOLE),
    "two-lengths-alike": Breakage(b"HTTP/1.1 200 OK\r\n" + _HTML + _LENGTH + _LENGTH + b"\r\n" + BODY, _WHOLE),
    "latin-1-header": Breakage(b"HTTP/1.1 200 OK\r\nX-Place: Caf\xe9\r\n" + _PLAIN, _WHOLE),
    "length-too-long": Breakage(b"HTTP/1.1 200 OK\r\n" + _HTML + b"Content-Length: 5000\r\n\r\n" + BODY, _PART),
    "length-too-short": Breakage(b"HTTP/1.1 200 OK\r\n" + _HTML + b"Content-Length: 20\r\n\r\n" + BODY, _WHOLE),
    "length-not-a-number": Breakage(b"HTTP/1.1 200 OK\r\n" + _HTML + b"Content-Length: all\r\n\r\n" + BODY, _WHOLE),
    "chunk-too-long": Breakage(_CHUNKED + b"fff\r\n" + BODY, _PART),
    "chunk-size-garbage": Breakage(_CHUNKED + _chunk(BODY) + b"zz\r\nmore", _PART),
    "chunks-without-end": Breakage(_CHUNKED + _chunk(BODY), _PART),
    "chunks-by-lf": Breakage(_CHUNKED + b"%x\n%b\n0\n\n" % (len(BODY), BODY), _WHOLE),
    "early-close-in-head": Breakage(b"HTTP/1.1 200 OK\r\nContent-Ty", _NOTHING),
    "nothing-at-all": Breakage(b"", _NOTHING),
    "not-http": Breakage(b"220 mail.example ESMTP ready\r\n", _NOTHING),
}  # fmt: skip
"""Every way by the path that is answered so."""


class BrokenHttp:
    """The server on a loopback port of its own; `asked` holds every path in order."""

    def __init__(self) -> None:
        """Nothing is opened before the server is entered."""
        self.origin = ""
        self.asked: list[str] = []
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Open the socket and serve."""
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and hang up on who is still there."""
        if self._server is not None:
            self._server.close()
        for task in list(self._talks):
            task.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._talks.add(task)
            task.add_done_callback(self._talks.discard)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode("ascii", "replace").removeprefix("/")
            self.asked.append(path)
            breakage = BREAKAGES.get(path)
            missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            writer.write(missing if breakage is None else breakage.answer)
            await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def serve() -> None:
    """Serve until standard input closes or the process is told to stop."""
    async with BrokenHttp() as server:
        print_json({"origin": server.origin, "paths": sorted(BREAKAGES)})
        await until_stopped()


if __name__ == "__main__":
    asyncio.run(serve())
