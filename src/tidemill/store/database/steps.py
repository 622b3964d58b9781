"""How far the tables are, without loading what migrates them."""

from pathlib import Path

from sqlalchemy import inspect, text

from tidemill.store.database.database import Database

VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"


def newest_own_step() -> str:
    """The step that this version needs, by the names of the files; a test compares it with what Alembic says."""
    return max(file.stem.partition("_")[0] for file in VERSIONS.glob("0*.py"))


async def step_of(database: Database) -> str | None:
    """The step that our own tables stand at; None in an empty database."""
    async with database.glance() as connection:
        if not await connection.run_sync(lambda sync: inspect(sync).has_table("alembic_version")):
            return None
        return (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar()
