"""A PostgreSQL server of a test's own, to be stopped and started in the middle of its work."""

import asyncio
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import asyncpg

from rig.postgres_binaries import dying_with_parent, unprivileged
from rig.postgres_keeper import SETTINGS, USER, _create_cluster, _follow, _free_port
from rig.processes import children_of


class RestartableServer:
    """Its data and its port stay the same over a restart."""

    def __init__(self, programs: Path, data: Path) -> None:
        """Make a cluster in `data`."""
        self._someone = unprivileged(data)
        self._programs = programs
        self._data = data
        self._port = _free_port()
        self._databases = 0
        self._running: tuple[subprocess.Popen[str], Thread] | None = None
        _create_cluster([*self._someone, str(programs / "initdb")], data)

    @property
    def url(self) -> str:
        """The address of its own database."""
        return f"postgresql+asyncpg://{USER}@127.0.0.1:{self._port}/postgres"

    def fresh_database(self) -> str:
        """Make an empty database; answers its address."""
        self._databases += 1
        name = f"fresh_{self._databases}"
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self._create(name)).result()
        return self.url.removesuffix("postgres") + name

    async def _create(self, name: str) -> None:
        connection = await asyncpg.connect(self.url.replace("+asyncpg", ""))
        try:
            await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()

    def start(self) -> None:
        """Start, and return once it answers."""
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = [*self._someone, *dying_with_parent(), str(self._programs / "postgres")]
        command += ["-D", str(self._data), "-p", str(self._port), *settings]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        verdict: SimpleQueue[bool] = SimpleQueue()
        follower = Thread(target=_follow, args=(server.stderr, self._data.parent / "log", verdict), daemon=True)
        follower.start()
        self._running = (server, follower)
        assert verdict.get(), "PostgreSQL did not start"

    def backends(self) -> list[int]:
        """Return the processes of its connections; kill -9 of one of them crashes the whole server."""
        if self._running is None:
            return []
        found, waiting = [], [self._running[0].pid]
        while waiting:
            children = children_of(waiting.pop())
            waiting += children
            found += [child for child in children if b" 127.0.0.1(" in _words_of(child)]
        return found

    def stop(self) -> None:
        """Cut every connection and stop."""
        if self._running is None:
            return
        server, follower = self._running
        server.send_signal(signal.SIGINT)
        server.wait()
        follower.join()
        assert server.stderr is not None
        server.stderr.close()
        self._running = None


def _words_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@contextmanager
def a_restartable_server(programs: Path) -> Iterator[RestartableServer]:
    """A started server that leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="tidemill-postgres-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "data"
        data.mkdir()
        server = RestartableServer(programs, data)
        server.start()
        try:
            yield server
        finally:
            server.stop()
