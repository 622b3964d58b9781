"""The newest state of each thing, the last few whole, and the log of every change.

`change_log` only ever grows: triggers of the migration refuse whatever would change or remove a row, whoever asks.
"""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text, UniqueConstraint

from tidemill.store.database.column_types import Key, Timestamp
from tidemill.store.database.metadata import metadata

snapshots = Table(
    "snapshots",
    metadata,
    Column("thing_id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("change_offset", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("group_key", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("changed_at", Timestamp, nullable=False),
    Column("checked_at", Timestamp, nullable=False),
    UniqueConstraint("vertical", "key"),
)
"""The newest state of each thing, as canonical JSON."""
Index("ix_snapshots_status", snapshots.c.vertical, snapshots.c.status, snapshots.c.key)

snapshot_history = Table(
    "snapshot_history",
    metadata,
    Column("thing_id", Key, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("changed_at", Timestamp, nullable=False),
)
"""The last five states of each thing, whole."""

change_log = Table(
    "change_log",
    metadata,
    Column("change_offset", BigInteger, primary_key=True, autoincrement=False),
    Column("thing_id", Key, nullable=False),
    Column("vertical", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("patch", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("skipped", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("was", Text, nullable=False),
    Column("moved_from", Text, nullable=False),
    Column("moved_to", Text, nullable=False),
    Column("page_id", Key),
    Column("token", BigInteger, nullable=False, unique=True),
    Column("changed_at", Timestamp, nullable=False),
    Column("logged_at", Timestamp, nullable=False),
    UniqueConstraint("thing_id", "seq"),
)
"""Every change for good, by its place in the order of commits. `page_id` is the page that it was read from."""
Index("ix_change_log_thing", change_log.c.thing_id, change_log.c.change_offset)

cached_values = Table(
    "cached_values",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
)
"""What hardly changes and may be asked for again, such as a team's roster."""
