"""A PostgreSQL server of a test's own, to be stopped and started in the middle of its work."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from rig.postgres_binaries import dying_with_parent, unprivileged
from rig.postgres_keeper import SETTINGS, USER, _create_cluster, _follow, _free_port


class RestartableServer:
    """Its data and its port stay the same over a restart."""

    def __init__(self, programs: Path, data: Path) -> None:
        """Make a cluster in `data`."""
        self._someone = unprivileged(data)
        self._programs = programs
        self._data = data
        self._port = _free_port()
        self._running: tuple[subprocess.Popen[str], Thread] | None = None
        _create_cluster([*self._someone, str(programs / "initdb")], data)

    @property
    def url(self) -> str:
        """The address of its own database."""
        return f"postgresql+asyncpg://{USER}@127.0.0.1:{self._port}/postgres"

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
