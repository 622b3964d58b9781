"""What hosts said in their robots.txt, kept for as long as it holds: a restart asks nobody again."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import Database
from tidemill.store.database.upserts import upsert
from tidemill.store.schema import cached_values

_PREFIX = "robots "
_KEPT = timedelta(days=1)
_PUT = upsert(cached_values, ["name"])


class RobotsAnswers:
    """Keeps robots.txt files in the database; while that is away nothing is known, and nothing is kept."""

    def __init__(self, database: Database) -> None:
        """Keep them in this database."""
        self._database = database

    async def recall(self, origin: str, now: datetime) -> tuple[str, datetime] | None:
        """Return an origin's robots.txt and until when it holds, if it still does."""
        named = cached_values.c.name == _PREFIX + origin
        asked = select(cached_values.c.value, cached_values.c.expires_at).where(named)
        try:
            async with self._database.glance() as connection:
                row = (await connection.execute(asked)).first()
        except StoreError:
            return None
        return (row.value, row.expires_at) if row is not None and now < row.expires_at else None

    async def keep(self, origin: str, text: str, until: datetime) -> None:
        """Keep an origin's robots.txt until then; what has expired is forgotten on the way."""
        row = {"name": _PREFIX + origin, "value": text.replace("\x00", ""), "expires_at": until}
        ours = cached_values.c.name.startswith(_PREFIX)
        expired = delete(cached_values).where(ours, cached_values.c.expires_at < until - _KEPT)
        try:
            async with self._database.write() as connection:
                await connection.execute(_PUT[self._database.dialect], [row])
                await connection.execute(expired)
        except StoreError:
            return
