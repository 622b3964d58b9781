"""Bring a database's tables to the present, and say how far they are."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import Database

ONE_AT_A_TIME = 0x7469_6465
"""The key under which PostgreSQL lets one process migrate at a time."""
HERE = Path(__file__).parents[1] / "migrations"


def alembic_config(connection: Connection | None = None) -> Config:
    """What Alembic needs to know of us."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def newest() -> str:
    """The step that this version of Tidemill needs."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    if head is None:
        msg = "this installation holds no migrations; install it again"
        raise StoreError(msg)
    return head


async def current(database: Database) -> str | None:
    """The step that the database stands at; None for an empty one.

    A glance, because this is the first that is asked of a database: a reader's thread would outlive a file that cannot
    be opened, and have the last word after ours.
    """
    async with database.glance() as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


async def upgrade(database: Database) -> tuple[str | None, str]:
    """Take every step that is missing; answers where the database stood and where it stands."""
    before = await current(database)
    async with database.write() as connection:
        if not database.is_sqlite:  # SQLite's writers take turns anyway
            await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
        await connection.run_sync(lambda sync: command.upgrade(alembic_config(sync), "head"))
    return before, newest()


async def require_current(database: Database) -> None:
    """Refuse to work on tables of another version."""
    if (found := await current(database)) != (needed := newest()):
        msg = f"the database stands at {found or 'nothing'}, this version needs {needed}; run `tidemill migrate`"
        raise StoreError(msg)
