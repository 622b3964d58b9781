"""Pages that were got before and may stand in for one that cannot be got now."""

from datetime import datetime

from sqlalchemy import bindparam, or_, select

from tidemill.core.target import Target
from tidemill.pipeline.ports import StoredPage
from tidemill.store.database.database import Database
from tidemill.store.schema import pages


class StoredPageRepository:
    """Looks stored pages up."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def fresh(self, target: Target, since: datetime) -> StoredPage | None:
        """The newest page that says what the target's last good page said, if it was got after `since`.

        Only what went all the way once may serve: of any other page nobody knows whether it can be read.
        """
        if target.good_page_id is None:
            return None
        asked = {"b_target": target.id, "b_good": target.good_page_id, "b_digest": target.good_digest, "b_since": since}
        async with self._database.glance() as connection:
            row = (await connection.execute(_FRESH, asked)).one_or_none()
        return None if row is None else StoredPage(row.id, row.created_at)


_FRESH = (
    select(pages.c.id, pages.c.created_at)
    .where(
        pages.c.target_id == bindparam("b_target"),
        pages.c.failure.is_(None),
        pages.c.created_at >= bindparam("b_since"),
        or_(pages.c.id == bindparam("b_good"), pages.c.content_hash == bindparam("b_digest")),
    )
    .order_by(pages.c.id.desc())
    .limit(1)
)
