"""People, their sessions, API tokens, one-time links and wrong tries."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

people = Table(
    "people",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password_hash", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("disabled_at", Timestamp),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id_hash", Text, primary_key=True),
    Column("person_id", Key, ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("csrf", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp, nullable=False),
    Column("address", Text, nullable=False),
    Column("agent", Text, nullable=False),
)
"""Server-side sessions by the SHA-256 of what the cookie holds."""
Index("ix_sessions_person", sessions.c.person_id)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("prefix", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("verticals", Json),
    Column("created_by", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp),
    Column("last_used_at", Timestamp),
    Column("revoked_at", Timestamp),
)

one_time_links = Table(
    "one_time_links",
    metadata,
    Column("link_hash", Text, primary_key=True),
    Column("person_id", Key, ForeignKey("people.id", ondelete="CASCADE")),
    Column("created_at", Timestamp, nullable=False),
    Column("used_at", Timestamp),
)
"""Links that make the first admin (no person yet) or set a person's password."""

login_failures = Table(
    "login_failures",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("tries", Integer, nullable=False),
    Column("last_at", Timestamp, nullable=False),
)
"""Wrong passwords in a row, by name and by address."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("key_hash", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("status", Integer),
    Column("content_type", Text, nullable=False, server_default=""),
    Column("body", Text, nullable=False, server_default=""),
    Column("created_at", Timestamp, nullable=False),
)
"""Answers to requests that carried an Idempotency-Key, by the hash of caller and key; no status while under way."""
Index("ix_idempotency_created", idempotency_keys.c.created_at)
