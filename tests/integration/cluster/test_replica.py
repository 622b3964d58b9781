"""Readers ask a replica; while it is away the database answers, and `/health` says how far it is behind."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rig.engines import until
from rig.postgres_binaries import find_programs, unprivileged
from rig.postgres_keeper import USER, _free_port
from rig.restartable import RestartableServer, a_restartable_server
from rig.works import the_works
from tidemill.bootstrap.migrations import upgrade
from tidemill.pipeline.ports import StoreLost
from tidemill.store.database.database import open_database
from tidemill.store.database.ping import replica_age
from tidemill.verticals.events.store.views import EventViews
from tidemill.web.health import ReplicaState

WHO = "SELECT pg_is_in_recovery()"


class Replica(RestartableServer):
    """A copy that follows another server."""

    def __init__(self, programs: Path, data: Path, of: RestartableServer) -> None:
        self._someone = unprivileged(data)
        self._programs = programs
        self._data = data
        self._port = _free_port()
        self._running = None
        copy = [*self._someone, str(programs / "pg_basebackup"), "-D", str(data), "-R", "-X", "stream", "-c", "fast"]
        copy += ["-h", "127.0.0.1", "-p", str(of._port), "-U", USER, "--no-password"]
        done = subprocess.run(copy, check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        data.chmod(0o700)


@contextmanager
def a_replica(programs: Path, of: RestartableServer) -> Iterator[Replica]:
    with tempfile.TemporaryDirectory(prefix="tidemill-replica-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "data"
        data.mkdir()
        replica = Replica(programs, data, of)
        replica.start()
        try:
            yield replica
        finally:
            replica.stop()


@pytest.mark.shows("D2")
async def test_readers_ask_the_replica_and_do_without_while_it_is_away(do_without, site):
    programs = find_programs()
    if programs is None or not (programs / "pg_basebackup").exists():
        do_without("no pg_basebackup here: install PostgreSQL")
        raise AssertionError
    with a_restartable_server(programs) as server:
        database = open_database(server.url)
        await upgrade(database)
        await database.close()
        with a_replica(programs, server) as replica:
            async with the_works(server.url, read_database=replica.url.replace("+asyncpg", "")) as works:
                mine = works.system.store.database
                await works.enqueue(await works.source(site))
                await works.system.worker.sign_in()
                await works.system.make_drain().run("http")
                views = EventViews(mine)
                await until(lambda: knows(views, 18), "the replica has caught up")
                assert await who_answers(mine)
                assert 0 <= (await replica_age(mine) or 0.0) < 60
                replica.stop()
                assert await knows(views, 18)
                assert not await who_answers(mine)
                with pytest.raises(StoreLost):
                    await replica_age(mine)
                replica.start()
                await until(lambda: who_answers(mine), "the replica answers again")


async def who_answers(database):
    """Whether it is a replica."""
    async with database.published() as connection:
        return (await connection.exec_driver_sql(WHO)).scalar()


async def knows(views, events):
    return len(await views.events(limit=100)) == events


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (ReplicaState(reachable=True, age_seconds=20), ""),
        (ReplicaState(reachable=True, age_seconds=90), "the replica is 90 s behind"),
        (ReplicaState(reachable=False, error="refused"), "the replica does not answer"),
    ],
)
def test_what_is_wrong_with_a_replica(state, words):
    assert state.trouble[: len(words)] == words
    assert bool(state.trouble) == bool(words)
