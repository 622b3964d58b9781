"""One real PostgreSQL server for a whole test session, and a fresh database on it in milliseconds."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import asyncpg

from rig.locks import held_alone, held_together
from rig.parent import TESTS
from rig.postgres_keeper import NOTE, USER, read_note


class PostgresDidNotStartError(Exception):
    """The server's own words on why it did not start."""


class PostgresServer:
    """A server that answers on a loopback port of its own."""

    def __init__(self, port: int, worker: str) -> None:
        """Make databases on `port`, named after the test `worker` so that two never share one."""
        self.port = port
        self._names = (f"{worker}_{number}" for number in count(1))

    def create_database(self, template: str = "template0") -> str:
        """Make a copy of `template`, by default an empty database, and answer its name.

        A template must have no connections open. Make one by migrating a created database once.
        """
        name = next(self._names)
        self._say(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
        self._say(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def url(self, database: str) -> str:
        """The address of `database` for SQLAlchemy's asyncio engine."""
        return f"postgresql+asyncpg://{USER}@127.0.0.1:{self.port}/{database}"

    def _say(self, statement: str) -> None:
        """Run one statement, whether or not the caller is inside an event loop: on a thread with its own."""
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, self._execute(statement)).result()

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=self.port, user=USER, database="postgres")
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def a_server(programs: Path, commons: Path, worker: str) -> Iterator[PostgresServer]:
    """Share the one server of everyone who names the same folder `commons`; the first to come starts it.

    Each user holds a lock in `commons`. A keeper process stops the server once nobody holds it any more,
    which the kernel sees to even when a user is killed. The one who started the keeper sees it off.
    """
    with ExitStack() as leaving_last, held_together(commons / "users.lock"):
        with held_alone(commons / "start.lock"):
            if not (commons / NOTE).exists():
                leaving_last.enter_context(_start_keeper(programs, commons))
        yield PostgresServer(read_note(commons).port, worker)


def _start_keeper(programs: Path, commons: Path) -> subprocess.Popen[bytes]:
    """Start the keeper in a session of its own, out of reach of a Ctrl-C meant for the tests."""
    command = [sys.executable, "-m", "rig.postgres_keeper", str(programs), str(commons)]
    with (commons / "keeper.log").open("wb") as log:
        keeper = subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, stderr=log, start_new_session=True)
    assert keeper.stdout is not None
    if keeper.stdout.readline() != b"ready\n":
        keeper.communicate()
        raise PostgresDidNotStartError((commons / "keeper.log").read_text().strip())
    return keeper
