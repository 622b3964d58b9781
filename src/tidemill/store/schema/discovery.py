"""Discovery: the municipalities, what was searched for, and the candidates that a person looks through."""

from sqlalchemy import Column, Float, Index, Integer, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

municipalities = Table(
    "municipalities",
    metadata,
    Column("name", Text, primary_key=True),
    Column("region", Text, nullable=False),
    Column("population", Integer, nullable=False),
    Column("latitude", Float, nullable=False),
    Column("longitude", Float, nullable=False),
    Column("spoken", Text, nullable=False, server_default=""),
    Column("searched_at", Timestamp),
    Column("country", Text, nullable=False, server_default="NL"),
    Column("language", Text, nullable=False, server_default="nl"),
    Column("time_zone", Text, nullable=False, server_default="Europe/Amsterdam"),
)

search_results = Table(
    "search_results",
    metadata,
    Column("query", Text, primary_key=True),
    Column("place", Text, nullable=False),
    Column("asked_at", Timestamp, nullable=False),
    Column("answered_at", Timestamp),
    Column("hits", Json),
)
"""What each question was answered with. Written before it is asked, so that no crash lets us pay for it twice."""

source_candidates = Table(
    "source_candidates",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("canonical_url", Text, nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("site", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("title", Text, nullable=False, server_default=""),
    Column("status", Text, nullable=False),
    Column("confidence", Float, nullable=False, server_default="0"),
    Column("method", Text, nullable=False),
    Column("reasons", Json, nullable=False),
    Column("samples", Json, nullable=False),
    Column("found_at", Timestamp, nullable=False),
    Column("decided_at", Timestamp),
    Column("decided_by", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    Column("source_id", Key),
)
Index("ix_source_candidates_status", source_candidates.c.status, source_candidates.c.confidence)
Index("ix_source_candidates_site", source_candidates.c.site)
