"""Events are found by a short number made of their identity: no index was written as much as that of whole ones."""

import sqlalchemy as sa
from alembic import op
from xxhash import xxh3_64_intdigest

revision = "0009"
down_revision = "0008"

_AT_ONCE = 10_000
_LOWEST = 1 << 63
"""What is taken off, so that a number of 64 bits fits the databases' signed integers."""
_SOME = sa.text("SELECT id, identity FROM events WHERE id > :after ORDER BY id LIMIT :most")
_FILL = sa.text("UPDATE events SET identity_hash = :hash WHERE id = :id")


def upgrade() -> None:
    """Give every event its number; from now on no two of a source have the same."""
    op.add_column("events", sa.Column("identity_hash", sa.BigInteger(), nullable=True))
    _fill()
    with op.batch_alter_table("events") as events:
        events.alter_column("identity_hash", existing_type=sa.BigInteger(), nullable=False)
        events.drop_constraint("uq_events_source_id_identity", type_="unique")
        events.create_unique_constraint("uq_events_source_id_identity_hash", ["source_id", "identity_hash"])


def downgrade() -> None:
    """Find them by their whole identity again."""
    with op.batch_alter_table("events") as events:
        events.drop_constraint("uq_events_source_id_identity_hash", type_="unique")
        events.create_unique_constraint("uq_events_source_id_identity", ["source_id", "identity"])
        events.drop_column("identity_hash")


def _fill() -> None:
    """Some at a time: a million events need not fit into memory."""
    connection, after = op.get_bind(), -_LOWEST
    while some := connection.execute(_SOME, {"after": after, "most": _AT_ONCE}).all():
        numbers = [{"id": key, "hash": xxh3_64_intdigest(identity.encode()) - _LOWEST} for key, identity in some]
        connection.execute(_FILL, numbers)
        after = some[-1].id
