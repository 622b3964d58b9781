"""Keys by which another source's record of the same event is found; all cards are made again to have them."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import EPOCH, Key, Timestamp

revision = "0013"
down_revision = "0012"

_LINKS = sa.table("event_links", sa.column("as_of", Timestamp()))


def upgrade() -> None:
    """Take the step; publishing begins anew, in portions, while readers go on with the cards that there are."""
    op.create_table(
        "event_candidates",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("minute", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.PrimaryKeyConstraint("key", "minute", "event_id", name=op.f("pk_event_candidates")),
        sqlite_with_rowid=False,
    )
    op.add_column("event_links", sa.Column("minute", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("event_links", sa.Column("keys", sa.Text(), nullable=False, server_default=""))
    op.execute(_LINKS.update().values(as_of=EPOCH))
    op.execute("DELETE FROM engine_state WHERE name = 'published_events'")


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("event_links") as links:
        links.drop_column("keys")
        links.drop_column("minute")
    op.drop_table("event_candidates")
