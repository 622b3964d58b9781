"""Snapshots of things that change within seconds, and the log of their changes."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Key, Timestamp

revision = "0012"
down_revision = "0011"

_CALL = "EXECUTE FUNCTION refuse_change()"
_WORDS = "change_log only grows: rows are neither changed nor removed"
_SAME = "change_offset = NEW.change_offset OR token = NEW.token OR (thing_id = NEW.thing_id AND seq = NEW.seq)"
_REFUSE = f"BEGIN SELECT RAISE(ABORT, '{_WORDS}'); END"


def upgrade() -> None:
    """Take the step."""
    _states()
    _log()
    op.create_table(
        "cached_values",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("expires_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_cached_values")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"CREATE TRIGGER change_log_only_grow BEFORE UPDATE OR DELETE ON change_log FOR EACH ROW {_CALL}")
        op.execute(f"CREATE TRIGGER change_log_not_emptied BEFORE TRUNCATE ON change_log FOR EACH STATEMENT {_CALL}")
        return
    for deed in ("update", "delete"):
        op.execute(f"CREATE TRIGGER change_log_no_{deed} BEFORE {deed.upper()} ON change_log {_REFUSE}")
    there = f"EXISTS (SELECT 1 FROM change_log WHERE {_SAME})"  # noqa: S608 - our own names
    op.execute(f"CREATE TRIGGER change_log_no_replace BEFORE INSERT ON change_log WHEN {there} {_REFUSE}")


def _states() -> None:
    op.create_table(
        "snapshots",
        sa.Column("thing_id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("change_offset", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("group_key", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("changed_at", Timestamp(), nullable=False),
        sa.Column("checked_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("thing_id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("vertical", "key", name=op.f("uq_snapshots_vertical_key")),
    )
    op.create_index("ix_snapshots_status", "snapshots", ["vertical", "status", "key"])
    op.create_table(
        "snapshot_history",
        sa.Column("thing_id", Key, autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("changed_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("thing_id", "seq", name=op.f("pk_snapshot_history")),
    )


def _log() -> None:
    op.create_table(
        "change_log",
        sa.Column("change_offset", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("thing_id", Key, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("patch", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("was", sa.Text(), nullable=False),
        sa.Column("moved_from", sa.Text(), nullable=False),
        sa.Column("moved_to", sa.Text(), nullable=False),
        sa.Column("page_id", Key, nullable=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", Timestamp(), nullable=False),
        sa.Column("logged_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("change_offset", name=op.f("pk_change_log")),
        sa.UniqueConstraint("token", name=op.f("uq_change_log_token")),
        sa.UniqueConstraint("thing_id", "seq", name=op.f("uq_change_log_thing_id_seq")),
    )
    op.create_index("ix_change_log_thing", "change_log", ["thing_id", "change_offset"])


def downgrade() -> None:
    """Take it back; the log goes with its table."""
    for table in ("cached_values", "change_log", "snapshot_history", "snapshots"):
        op.drop_table(table)
