"""Real processes to kill, freeze and stop, and their own words on what they do."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from rig.parent import TESTS

PATIENCE = 60
"""Seconds after which a process that says nothing counts as hanging; no test waits for them."""
LONGEST_TALE = 1 << 26

Said = dict[str, Any]


class Child:
    """A process under way. `said` holds every line it has said so far that the test has come to."""

    def __init__(self, pid: int, lines: asyncio.StreamReader, ending: asyncio.StreamReader, orders: int) -> None:
        """Made by `Nursery.child`."""
        self.pid = pid
        self.said: list[Said] = []
        self._lines = lines
        self._ending = ending
        self._orders = orders

    def tell(self, word: str) -> None:
        """Say a word to the process."""
        os.write(self._orders, f"{word}\n".encode())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    async def until(self, kind: str, like: Callable[[Said], bool] = lambda _: True) -> Said:
        """The next thing of this kind that the process says; everything before it goes to `said`."""
        return await self._until(lambda said: said["kind"] == kind and like(said), kind)

    async def until_any(self, *kinds: str) -> Said:
        """The next thing of any of these kinds."""
        return await self._until(lambda said: said["kind"] in kinds, " or ".join(kinds))

    async def _until(self, wanted: Callable[[Said], bool], words: str) -> Said:
        try:
            async with asyncio.timeout(PATIENCE):
                while said := await self._next():
                    if wanted(said):
                        return said
        except TimeoutError:
            msg = f"the process does not say {words}; its last words: {self.said[-5:]}"
            raise AssertionError(msg) from None
        msg = f"the process ended before it said {words}; its last words: {self.said[-5:]}"
        raise AssertionError(msg)

    async def ended(self) -> int:
        """Wait for the process's end; answers its exit code, or minus the signal that killed it."""
        async with asyncio.timeout(PATIENCE):
            while await self._next():
                pass
            return int(await self._ending.readline())

    async def _next(self) -> Said | None:
        line = await self._lines.readline()
        if not line:
            return None
        said: Said = json.loads(line) if line.startswith(b'{"') else {"kind": "print", "line": line.decode()}
        assert said["kind"] != "crash", said["stack"]
        self.said.append(said)
        return said

    def kinds(self, kind: str) -> list[Said]:
        """Everything of this kind that the process said."""
        return [said for said in self.said if said["kind"] == kind]


class Nursery:
    """Where processes come from."""

    def __init__(self, line: socket.socket) -> None:
        """`line` leads to the zygote."""
        self._line = line

    @asynccontextmanager
    async def child(self, job: str, **orders: Any) -> AsyncIterator[Child]:
        """A process that does `job`; it is killed at the end of the block, if it is still there."""
        hears, tell = os.pipe()
        listen, says = os.pipe()
        wait, tells = os.pipe()
        socket.send_fds(self._line, [json.dumps({"job": job, **orders}).encode()], [hears, says, tells])
        for file in (hears, says, tells):
            os.close(file)
        (lines, listening), (ending, waiting) = await _reader(listen), await _reader(wait)
        child = Child(int(await ending.readline()), lines, ending, tell)
        try:
            yield child
        finally:
            with suppress(ProcessLookupError):
                child.signal(signal.SIGKILL)
            await ending.read()
            os.close(tell)
            listening.close()
            waiting.close()


async def _reader(file: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=LONGEST_TALE)
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(file, "rb"))
    return reader, transport


@contextmanager
def a_nursery() -> Iterator[Nursery]:
    """Start the zygote, which imports everything once."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "rig.zygote", str(theirs.fileno())]
    with ours, subprocess.Popen(command, cwd=TESTS, pass_fds=[theirs.fileno()], start_new_session=True) as zygote:
        theirs.close()
        try:
            assert ours.recv(5) == b"ready"
            yield Nursery(ours)
        finally:
            ours.close()
            zygote.wait()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, told.read_text().split())
    return found
