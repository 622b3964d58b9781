"""People, sessions, tokens, one-time links, wrong tries, and answers kept by Idempotency-Key."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0016"
down_revision = "0015"

TABLES = ("idempotency_keys", "login_failures", "one_time_links", "api_tokens", "sessions", "people")


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "people",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("disabled_at", Timestamp()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("name", name=op.f("uq_people_name")),
    )
    _sessions_and_links()
    op.create_table(
        "api_tokens",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("verticals", Json),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("expires_at", Timestamp()),
        sa.Column("last_used_at", Timestamp()),
        sa.Column("revoked_at", Timestamp()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    op.create_table(
        "login_failures",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("last_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_login_failures")),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("key_hash", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("content_type", sa.Text(), nullable=False, server_default=""),
        sa.Column("body", sa.Text(), nullable=False, server_default=""),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_created", "idempotency_keys", ["created_at"])


def _sessions_and_links() -> None:
    op.create_table(
        "sessions",
        sa.Column("id_hash", sa.Text(), nullable=False),
        sa.Column("person_id", Key, nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("last_used_at", Timestamp(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id_hash", name=op.f("pk_sessions")),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_sessions_person_id"), ondelete="CASCADE"),
    )
    op.create_index("ix_sessions_person", "sessions", ["person_id"])
    op.create_table(
        "one_time_links",
        sa.Column("link_hash", sa.Text(), nullable=False),
        sa.Column("person_id", Key),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("used_at", Timestamp()),
        sa.PrimaryKeyConstraint("link_hash", name=op.f("pk_one_time_links")),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_one_time_links_person_id"), ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    """Take it back."""
    for table in TABLES:
        op.drop_table(table)
