"""The servers that a benchmark needs, each a process of its own: the corpus, and PostgreSQL as it is run in earnest."""

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import asyncpg

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # the tests know how to find and run PostgreSQL's programs

from rig.postgres_binaries import dying_with_parent, find_programs, unprivileged  # noqa: E402

USER = "bench"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "max_connections": "50",
}
PATIENCE = 30
"""Seconds that PostgreSQL may take to answer for the first time."""


@contextmanager
def corpus(hosts: int, *, slow_hosts: int = 0, slow_seconds: float = 1.0) -> Iterator[list[str]]:
    """Serve the corpus from a process of its own; yields its origins, the slow ones first."""
    command = [sys.executable, "-m", "tidemill.bootstrap.corpus_server", "--hosts", str(hosts)]
    command += ["--slow-hosts", str(slow_hosts), "--slow-seconds", str(slow_seconds)]
    with _served(command) as origins:
        yield origins


@contextmanager
def mixed_corpus(hosts: int, pages: int, module: str = "mixed_pages") -> Iterator[list[str]]:
    """The same for a mix, every page of which is made before the first is asked for."""
    with _served([sys.executable, "-m", f"benchmarks.{module}", str(hosts), str(pages)]) as origins:
        yield origins


@contextmanager
def _served(command: list[str]) -> Iterator[list[str]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as server:  # noqa: S603
        assert server.stdout is not None
        try:
            yield list(json.loads(server.stdout.readline())["origins"])
        finally:
            server.terminate()


class Postgres:
    """A running server that makes databases."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._names = (f"bench_{number}" for number in count(1))

    @contextmanager
    def database(self) -> Iterator[str]:
        """A fresh database for the time of the block; yields its address."""
        name = next(self._names)
        self.say(f"CREATE DATABASE {name}")
        try:
            yield f"postgresql://{USER}@127.0.0.1:{self._port}/{name}"
        finally:
            self.say(f"DROP DATABASE {name} WITH (FORCE)")

    def say(self, statement: str) -> None:
        """Run one statement."""
        asyncio.run(self._say(statement))

    async def _say(self, statement: str) -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=self._port, user=USER, database="postgres")
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres | None]:
    """A real server whose data is in `folder`, durable as in production; None where there is no PostgreSQL."""
    programs = find_programs()
    if programs is None:
        yield None
        return
    folder.mkdir(parents=True)
    as_someone = unprivileged(folder)
    make = [*as_someone, str(programs / "initdb"), "-D", str(folder / "data"), "-U", USER, "-A", "trust", "-E", "UTF8"]
    subprocess.run([*make, "--locale=C"], check=True, capture_output=True)  # noqa: S603
    port = _free_port()
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    command = [*as_someone, *dying_with_parent(), str(programs / "postgres"), "-D", str(folder / "data")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*command, "-p", str(port), *settings], stderr=log)  # noqa: S603
    try:
        running = Postgres(port)
        _wait_for(running, server, folder / "log")
        yield running
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(running: Postgres, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        with suppress(OSError, asyncpg.PostgresError):
            return running.say("SELECT 1")
        time.sleep(0.05)  # noqa: TID251 - a program outside Tidemill, waiting for another one
    msg = f"PostgreSQL did not start: {log.read_text()[-2000:]}"
    raise RuntimeError(msg)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
