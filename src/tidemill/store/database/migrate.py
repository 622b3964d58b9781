"""Bring a database's tables to the present, and say how far they are.

Tidemill's own steps are one chain; each vertical that an installed package brings may have a chain of its own, which
keeps its place in a version table of its own. So packages need not agree on the names of their steps, and one that is
gone leaves nothing behind that could stop the others.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, column, inspect, select, table
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.column_types import Json, Timestamp
from tidemill.store.database.database import Database

ONE_AT_A_TIME = 0x7469_6465
"""The key under which PostgreSQL lets one process migrate at a time."""
HERE = Path(__file__).parents[1] / "migrations"
VERSION_TABLE = "alembic_version"


class MigrationChain(NamedTuple):
    """The steps of one vertical's tables: its name, and the folder that holds them; ours has no name."""

    vertical: str
    folder: Path

    @property
    def version_table(self) -> str:
        """Where the database notes how far it is."""
        return f"{VERSION_TABLE}_{self.vertical}" if self.vertical else VERSION_TABLE


class ChainStatus(NamedTuple):
    """How far the tables of one vertical are; it needs nothing if no installed package brings it any more."""

    vertical: str
    stands_at: str | None
    needs: str | None


OWN = MigrationChain("", HERE / "versions")
WORKS_WITH = "0020"
"""The oldest step for which a program may be written that works on the tables of this version.

Steps are taken before programs are replaced, so that old and new ones work side by side for one version: a step adds,
and what the version before does not know it can leave alone. A step that takes away, or changes what the version before
writes, raises this, and its release says that everything has to be stopped.
"""
_NOTE = "tables_work_with"
_TIMELESS = datetime(2026, 1, 1, tzinfo=UTC)
"""The note holds whenever it was written."""
_STATE = table("engine_state", column("name"), column("value", Json), column("updated_at", Timestamp()))


def alembic_config(connection: Connection | None = None, chain: MigrationChain = OWN) -> Config:
    """What Alembic needs to know of a chain; every chain is run by our `env.py`."""
    config = Config()
    config.set_main_option("script_location", _literal(HERE))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", _literal(chain.folder))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = chain.version_table
    return config


def _literal(path: Path) -> str:
    return str(path).replace("%", "%%")  # the configuration's own sign for a value to fill in


def newest(chain: MigrationChain = OWN) -> str:
    """The step that this version needs."""
    head = ScriptDirectory.from_config(alembic_config(chain=chain)).get_current_head()
    if head is None:
        whose = f"the package of the vertical {chain.vertical!r}" if chain.vertical else "this installation"
        msg = f"{whose} holds no migrations; install it again"
        raise StoreError(msg)
    return head


async def current(database: Database, chain: MigrationChain = OWN) -> str | None:
    """The step that the database stands at; None for an empty one.

    A glance, because this is the first that is asked of a database: a reader's thread would outlive a file that cannot
    be opened, and have the last word after ours.
    """
    async with database.glance() as connection:
        return await _step(connection, chain.version_table)


async def _step(connection: AsyncConnection, version_table: str) -> str | None:
    options = {"version_table": version_table}
    return await connection.run_sync(lambda sync: MigrationContext.configure(sync, opts=options).get_current_revision())


async def upgrade(database: Database, chains: Sequence[MigrationChain] = ()) -> tuple[str | None, str]:
    """Take every step that is missing, ours first; answers where our own tables stood and where they stand."""
    before = await current(database)
    await _take_steps(database, OWN)
    await _note_oldest(database)
    for chain in chains:
        try:
            await _take_steps(database, chain)
        except Exception as error:
            msg = f"the tables of the vertical {chain.vertical!r} cannot be made: {error}"
            raise StoreError(msg) from error
    return before, newest()


async def _take_steps(database: Database, chain: MigrationChain) -> None:
    async with database.write() as connection:
        await _take_turns(database, connection)
        await connection.run_sync(lambda sync: command.upgrade(alembic_config(sync, chain), "head"))


async def _take_turns(database: Database, connection: AsyncConnection) -> None:
    """Wait until no other process migrates; SQLite's writers take turns anyway."""
    if not database.is_sqlite:
        await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")


async def require_current(
    database: Database, chains: Sequence[MigrationChain] = (), needs: Callable[[MigrationChain], str] = newest
) -> None:
    """Refuse to work on tables of another version; whoever asks often brings a `needs` that remembers."""
    for chain in (OWN, *chains):
        if (found := await current(database, chain)) != (needed := needs(chain)):
            if chain is OWN and found is not None and found > needed and await _serves(database, needed):
                continue
            msg = f"{_whose(chain)} stands at {found or 'nothing'}, this version needs {needed}; run `tidemill migrate`"
            raise StoreError(msg)


async def _note_oldest(database: Database) -> None:
    """Leave word for programs of the version before, which do not know our steps."""
    async with database.write() as connection:
        await _take_turns(database, connection)
        await connection.execute(_STATE.delete().where(_STATE.c.name == _NOTE))
        await connection.execute(
            _STATE.insert(), {"name": _NOTE, "value": {"step": WORKS_WITH}, "updated_at": _TIMELESS}
        )


async def _serves(database: Database, needed: str) -> bool:
    """Whether newer tables serve a program that needs an older step, by the word that the newer version left."""
    async with database.glance() as connection:
        query = select(_STATE.c.value).where(_STATE.c.name == _NOTE)
        value = (await connection.execute(query)).scalar()
        return value is not None and str(value.get("step", "~")) <= needed


def missing_steps(stands_at: str | None, chain: MigrationChain = OWN) -> list[str]:
    """The steps that a database still has to take, oldest first, each with what it does."""
    script = ScriptDirectory.from_config(alembic_config(chain=chain))
    steps = script.iterate_revisions("head", stands_at or "base")
    return [f"{step.revision}: {(step.doc or '').splitlines()[0]}" for step in reversed(list(steps))]


def _whose(chain: MigrationChain) -> str:
    return f"the database's part for {chain.vertical!r}" if chain.vertical else "the database"


async def plugin_status(database: Database, chains: Sequence[MigrationChain]) -> list[ChainStatus]:
    """How far the tables of verticals are that packages bring or once brought; those tables stay as they are."""
    needs = {chain.version_table: newest(chain) for chain in chains}
    async with database.glance() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
        tables = sorted({*needs, *(name for name in names if name.startswith(f"{VERSION_TABLE}_"))})
        steps = {table: await _step(connection, table) for table in tables}
    return [ChainStatus(table.removeprefix(f"{VERSION_TABLE}_"), steps[table], needs.get(table)) for table in tables]
