"""Pages as they came."""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

page_bodies = Table(
    "page_bodies",
    metadata,
    Column("key", LargeBinary(16), primary_key=True),
    Column("segment", Integer),
    Column("place", BigInteger),
    Column("length", Integer, nullable=False),
    Column("encoding", Text, nullable=False, server_default=""),
    Column("base_key", LargeBinary(16)),
    Column("body", LargeBinary),
    sqlite_with_rowid=False,
)
partial("ix_page_bodies_base", "base_key IS NOT NULL", page_bodies.c.base_key)

pages = Table(
    "raw_pages",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("job_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("target_id", Key, nullable=False),
    Column("url", Text, nullable=False),
    Column("final_url", Text, nullable=False),
    Column("status_code", Integer, nullable=False),
    Column("headers", Json, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("charset", Text, nullable=False),
    Column("fetcher_used", Text, nullable=False),
    Column("fetch_duration_ms", Integer, nullable=False),
    Column("content_hash", BigInteger, nullable=False),
    Column("body_key", LargeBinary(16), nullable=False),
    Column("body_length", Integer, nullable=False),
    Column("failure", Text),
    Column("created_at", Timestamp, nullable=False),
)
Index("ix_raw_pages_target", pages.c.target_id, pages.c.id)
Index("ix_raw_pages_created", pages.c.created_at)

page_screenshots = Table(
    "page_screenshots",
    metadata,
    Column("page_id", Key, primary_key=True, autoincrement=False),
    Column("picture", LargeBinary, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
