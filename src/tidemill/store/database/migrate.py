"""Bring a database's tables to the present, and say how far they are.

Tidemill's own steps are one chain; each vertical that an installed package brings may have a chain of its own, which
keeps its place in a version table of its own. So packages need not agree on the names of their steps, and one that is
gone leaves nothing behind that could stop the others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.pipeline.ports import StoreError
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
    for chain in chains:
        try:
            await _take_steps(database, chain)
        except Exception as error:
            msg = f"the tables of the vertical {chain.vertical!r} cannot be made: {error}"
            raise StoreError(msg) from error
    return before, newest()


async def _take_steps(database: Database, chain: MigrationChain) -> None:
    async with database.write() as connection:
        if not database.is_sqlite:  # SQLite's writers take turns anyway
            await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
        await connection.run_sync(lambda sync: command.upgrade(alembic_config(sync, chain), "head"))


async def require_current(database: Database, chains: Sequence[MigrationChain] = ()) -> None:
    """Refuse to work on tables of another version."""
    for chain in (OWN, *chains):
        if (found := await current(database, chain)) != (needed := newest(chain)):
            msg = f"{_whose(chain)} stands at {found or 'nothing'}, this version needs {needed}; run `tidemill migrate`"
            raise StoreError(msg)


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
