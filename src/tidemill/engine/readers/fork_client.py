"""A worker's end of its fork server: starts it, orders readers from it, and hears how they end."""

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable

import msgspec

from tidemill.engine.readers.connection import ReaderConnection
from tidemill.engine.readers.fork_server import NOTE, ORDER, Note, Order
from tidemill.engine.readers.limits import ReaderLimits

READY_WITHIN = 60.0
"""Seconds that the fork server's imports may take on a busy machine."""
ENDS_WITHIN = 5.0
UNKNOWN_END = -signal.SIGKILL
"""How a reader ended of which nobody can say it: its fork server went first."""


class ForkServerLost(Exception):
    """The fork server could not be started, or has ended."""


class ForkServer:
    """A running fork server and the readers that it has started."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket, lost: Callable[[], None]) -> None:
        """Made by `start_fork_server`; `lost` is called if it ends by itself."""
        self._process = process
        self._control = control
        self._lost = lost
        self._starting: deque[ReaderConnection] = deque()
        self._readers: dict[int, ReaderConnection] = {}
        self._notes = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(control.fileno(), self._hear)

    async def start(self, reader: ReaderConnection) -> None:
        """Start a reader process behind this connection."""
        ours, theirs = socket.socketpair()
        with theirs:
            await self._loop.create_unix_connection(lambda: reader, sock=ours)
            self._starting.append(reader)
            order = Order.START_NICE if reader.is_slow else Order.START
            try:
                socket.send_fds(self._control, [ORDER.pack(order, 0)], [theirs.fileno()])
            except OSError as error:
                self._starting.remove(reader)
                reader.close()
                raise ForkServerLost(str(error)) from error

    def kill(self, reader: ReaderConnection) -> None:
        """End a reader at once; the fork server does it, so that no other process of the same number is hit."""
        if reader.pid is not None:
            try:
                self._control.send(ORDER.pack(Order.KILL, reader.pid))
            except OSError:
                self._end_all()

    async def close(self) -> None:
        """End the fork server and every reader."""
        if self._control.fileno() >= 0:
            self._loop.remove_reader(self._control.fileno())
            self._control.close()
        for reader in self._all_readers():
            reader.close()
        try:
            await asyncio.wait_for(self._process.wait(), ENDS_WITHIN)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _all_readers(self) -> list[ReaderConnection]:
        return [*self._readers.values(), *self._starting]

    def _hear(self) -> None:
        try:
            heard = self._control.recv(4_096)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self._end_all()
            return
        self._notes += heard
        while len(self._notes) >= NOTE.size:
            word, pid, exit_code = NOTE.unpack_from(self._notes)
            del self._notes[: NOTE.size]
            self._note(Note(word), pid, exit_code)

    def _note(self, word: Note, pid: int, exit_code: int) -> None:
        if word is Note.STARTED:
            reader = self._starting.popleft()
            reader.pid = pid
            self._readers[pid] = reader
        elif word is Note.ENDED and pid in self._readers:
            self._readers.pop(pid).process_ended(exit_code)

    def _end_all(self) -> None:
        """The fork server is gone: nobody will say how its readers end, and they end with their connections."""
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        readers = self._all_readers()
        self._readers.clear()
        self._starting.clear()
        self._lost()
        for reader in readers:
            reader.close()
            reader.process_ended(UNKNOWN_END)


async def start_fork_server(module: str, limits: ReaderLimits, lost: Callable[[], None]) -> ForkServer:
    """Start a fork server and wait until it is ready; raise `ForkServerLost` if it does not come up."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)  # noqa: FBT003 - the standard library asks for it so
    with theirs:
        command = (sys.executable, "-m", module, str(theirs.fileno()), msgspec.json.encode(limits).decode())
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ForkServerLost(str(error)) from error
    try:
        await _await_ready(ours)
    except (OSError, TimeoutError, ForkServerLost) as error:
        ours.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
        msg = f"it did not come up: {error}"
        raise ForkServerLost(msg) from error
    return ForkServer(process, ours, lost)


async def _await_ready(control: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(READY_WITHIN):
        note = await loop.sock_recv(control, NOTE.size)
    if len(note) < NOTE.size:
        msg = "it ended at its start"
        raise ForkServerLost(msg)


def can_fork() -> bool:
    """Return whether this system has what readers need."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds") and hasattr(signal, "setitimer")
