"""What may be done about a page that our selectors no longer fit, for a person to decide."""

from sqlalchemy import Column, Float, Index, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

selector_proposals = Table(
    "selector_proposals",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, nullable=False),
    Column("target_id", Key, nullable=False),
    Column("page_id", Key, nullable=False, unique=True),
    Column("good_page_id", Key, nullable=False),
    Column("status", Text, nullable=False),
    Column("diagnosis", Text, nullable=False),
    Column("before", Json, nullable=False),
    Column("after", Json),
    Column("confidence", Float, nullable=False, server_default="0"),
    Column("lost", Json, nullable=False),
    Column("precision", Float),
    Column("recall", Float),
    Column("replay_id", Key),
    Column("created_at", Timestamp, nullable=False),
    Column("decided_at", Timestamp),
    Column("decided_by", Text, nullable=False, server_default=""),
)
Index("ix_selector_proposals_status", selector_proposals.c.status, selector_proposals.c.id)
Index("ix_selector_proposals_source", selector_proposals.c.source_id, selector_proposals.c.status)
