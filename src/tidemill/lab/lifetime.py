"""How the lab's server processes speak to whoever started them, and when they end."""

import asyncio
import os
import signal
import stat
import sys

import msgspec


def print_json(described: object) -> None:
    """Print one line of JSON, at once."""
    sys.stdout.buffer.write(msgspec.json.encode(described) + b"\n")
    sys.stdout.flush()


async def until_stopped() -> None:
    """Return when standard input closes, or on SIGTERM or Ctrl-C."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if _is_pipe(sys.stdin.fileno()):
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        closed = asyncio.create_task(reader.read())
        closed.add_done_callback(lambda _: stopped.set())
    await stopped.wait()


def _is_pipe(descriptor: int) -> bool:
    """Whether someone may close it: a file or /dev/null at standard input means nothing."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
