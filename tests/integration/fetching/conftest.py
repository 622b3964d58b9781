"""Real servers on loopback that say exactly what a test tells them to, byte for byte."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import pytest

from tidemill.engine.clock import RealClock

Answer = bytes | Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Serve = Callable[..., Awaitable["Served"]]

NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Served:
    """A server under way: where it is, who came and what they asked, and when."""

    host: str
    answers: Mapping[str, Answer]
    port: int = 0
    connections: int = 0
    heads: list[bytes] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [head.split(b" ")[1].decode() for head in self.heads]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head)
                self.arrivals.append(asyncio.get_running_loop().time())
                await self._answer(head, reader, writer)
                if writer.is_closing():
                    break
        writer.close()
        self.tasks.discard(task)

    async def _answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.get(head.split(b" ")[1].decode(), NO_ROBOTS)
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            if b"connection: close" in answer.lower():
                writer.close()
        else:
            await answer(reader, writer)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server that answers each path with these bytes, or with what this coroutine does; else with 404."""
    async with AsyncExitStack() as stack:

        async def start(answers: Mapping[str, Answer] | None = None, host: str = "127.0.0.1") -> Served:
            served = Served(host, answers or {})
            server = await asyncio.start_server(served.handle, host, 0)
            served.port = server.sockets[0].getsockname()[1]

            async def stop() -> None:
                server.close()
                for task in list(served.tasks):
                    task.cancel()
                await asyncio.gather(*served.tasks, return_exceptions=True)

            stack.push_async_callback(stop)
            return served

        yield start


@pytest.fixture
def real_clock() -> RealClock:
    """The machine's own time: these tests talk to real servers."""
    return RealClock()
