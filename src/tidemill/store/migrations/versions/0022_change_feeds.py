"""The feed of changes of published records, and webhooks for every feed."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0022"
down_revision = "0021"

_subscriptions = sa.table(
    "webhook_subscriptions",
    sa.column("id", Key),
    sa.column("product_id", Key),
    sa.column("least_drop_percent", sa.Float()),
    sa.column("only", Json),
)


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "record_changes",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("record_id", Key, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("group_key", sa.Text(), nullable=False, server_default=""),
        sa.Column("changes", Json, nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_record_changes")),
    )
    op.create_index("ix_record_changes_vertical", "record_changes", ["vertical", "seq"])
    op.create_index("ix_record_changes_created", "record_changes", ["created_at"])
    op.add_column("webhook_subscriptions", sa.Column("feed", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE webhook_subscriptions SET feed = 'prices'")  # there were no other feeds before
    op.add_column("webhook_subscriptions", sa.Column("only", Json, nullable=False, server_default="{}"))
    op.add_column("webhook_subscriptions", sa.Column("previous_secret", sa.Text()))
    op.add_column("webhook_subscriptions", sa.Column("previous_until", Timestamp()))
    op.add_column("webhook_deliveries", sa.Column("tries", Json, nullable=False, server_default="[]"))
    _move_filters()
    op.drop_column("webhook_subscriptions", "product_id")
    op.drop_column("webhook_subscriptions", "least_drop_percent")
    op.execute("UPDATE engine_state SET name = 'webhooks_cursor.prices' WHERE name = 'webhooks_cursor'")


def _move_filters() -> None:
    """What narrowed a subscription to prices stood in columns of its own."""
    connection = op.get_bind()
    for row in connection.execute(sa.select(_subscriptions)).all():
        only = {"product_id": row.product_id, "least_drop_percent": row.least_drop_percent or None}
        kept = {name: value for name, value in only.items() if value is not None}
        connection.execute(_subscriptions.update().where(_subscriptions.c.id == row.id).values(only=kept))
