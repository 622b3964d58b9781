"""Indexes by which the pages of a large installation count and search without reading its tables.

Each is written only when what it holds changes: a target's switch and state, a letter's, the end of a record. The words
of a target's address get an index as those of homes and products have.
"""
# ruff: noqa: S608 - only names of ours are put together here

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"

INDEXES = {
    "ix_scrape_targets_counted": (
        "scrape_targets", ["source_id", "enabled", "status", "robots_path_blocked", "adapter_id"], None,
    ),
    "ix_dead_letter_queue_waiting": ("dead_letter_queue", ["source_id", "error_type"], "status = 'pending'"),
    "ix_jobs_dead": ("pipeline_jobs", ["id"], "status = 'dead'"),
    "ix_incidents_open": ("incidents", ["severity", "id"], "closed_at IS NULL"),
    "ix_selector_proposals_status": ("selector_proposals", ["status", "id"], None),
    "ix_events_gone": ("events", ["id"], "gone_at IS NOT NULL"),
    "ix_source_products_gone": ("source_products", ["id"], "gone_at IS NOT NULL"),
}  # fmt: skip
TABLE, WORDS = "scrape_targets", "scrape_targets_text"


def upgrade() -> None:
    """Take the step."""
    for name, (table, columns, where) in INDEXES.items():
        condition = None if where is None else sa.text(where)
        op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
    if op.get_bind().dialect.name == "sqlite":
        _make_words()
    elif op.get_bind().execute(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")).scalar():
        op.execute(f"CREATE INDEX ix_{TABLE}_url_text ON {TABLE} USING gin (url gin_trgm_ops)")


def downgrade() -> None:
    """Take it back."""
    if op.get_bind().dialect.name == "sqlite":
        for when in ("insert", "delete", "update"):
            op.execute(f"DROP TRIGGER {WORDS}_{when}")
        op.execute(f"DROP TABLE {WORDS}")
    else:
        op.execute(f"DROP INDEX IF EXISTS ix_{TABLE}_url_text")
    for name, (table, _, _) in INDEXES.items():
        op.drop_index(name, table)


def _make_words() -> None:
    put = f"INSERT INTO {WORDS} (rowid, url) VALUES (new.id, new.url);"
    take = f"INSERT INTO {WORDS} ({WORDS}, rowid, url) VALUES ('delete', old.id, old.url);"
    op.execute(
        f"CREATE VIRTUAL TABLE {WORDS} USING fts5"
        f"(url, content='{TABLE}', content_rowid='id', tokenize='trigram', detail='column')"
    )
    op.execute(f"CREATE TRIGGER {WORDS}_insert AFTER INSERT ON {TABLE} BEGIN {put} END")
    op.execute(f"CREATE TRIGGER {WORDS}_delete AFTER DELETE ON {TABLE} BEGIN {take} END")
    op.execute(
        f"CREATE TRIGGER {WORDS}_update AFTER UPDATE OF url ON {TABLE} WHEN new.url IS NOT old.url"
        f" BEGIN {take} {put} END"
    )
    op.execute(f"INSERT INTO {WORDS} ({WORDS}) VALUES ('rebuild')")
