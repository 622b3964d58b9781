"""An index over the words of homes and products: trigrams, so that any part of a name is found.

SQLite gets a full-text table beside each, which triggers keep; a step that makes one of these tables anew has to make
its triggers anew too. PostgreSQL gets an index where its extension `pg_trgm` may be had, and does without elsewhere.
"""
# ruff: noqa: S608 - only names of ours are put together here

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

SEARCHED = {
    "listings": ("title", "address_key"),
    "source_products": ("title",),
    "products": ("title",),
}


def upgrade() -> None:
    """Make the indexes, and fill them."""
    if op.get_bind().dialect.name == "sqlite":
        for table, columns in SEARCHED.items():
            _make_table(table, columns)
    elif _has_trigrams():
        for table, columns in SEARCHED.items():
            for column in columns:
                op.execute(f"CREATE INDEX ix_{table}_{column}_text ON {table} USING gin (lower({column}) gin_trgm_ops)")


def downgrade() -> None:
    """Drop them."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table, columns in SEARCHED.items():
        if is_sqlite:
            for when in ("insert", "delete", "update"):
                op.execute(f"DROP TRIGGER {table}_text_{when}")
            op.execute(f"DROP TABLE {table}_text")
        else:
            for column in columns:
                op.execute(f"DROP INDEX IF EXISTS ix_{table}_{column}_text")


def _make_table(table: str, columns: tuple[str, ...]) -> None:
    names = ", ".join(columns)
    new, old = (", ".join(f"{which}.{name}" for name in columns) for which in ("new", "old"))
    put = f"INSERT INTO {table}_text (rowid, {names}) VALUES (new.id, {new});"
    take = f"INSERT INTO {table}_text ({table}_text, rowid, {names}) VALUES ('delete', old.id, {old});"
    differs = " OR ".join(f"new.{name} IS NOT old.{name}" for name in columns)
    op.execute(
        f"CREATE VIRTUAL TABLE {table}_text USING fts5"
        f"({names}, content='{table}', content_rowid='id', tokenize='trigram', detail='column')"
    )
    op.execute(f"CREATE TRIGGER {table}_text_insert AFTER INSERT ON {table} BEGIN {put} END")
    op.execute(f"CREATE TRIGGER {table}_text_delete AFTER DELETE ON {table} BEGIN {take} END")
    op.execute(
        f"CREATE TRIGGER {table}_text_update AFTER UPDATE OF {names} ON {table} WHEN {differs} BEGIN {take} {put} END"
    )
    op.execute(f"INSERT INTO {table}_text ({table}_text) VALUES ('rebuild')")


def _has_trigrams() -> bool:
    """Whether the extension is there, or can be made by whoever migrates."""
    connection = op.get_bind()
    if not connection.execute(sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")).scalar():
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sa.exc.DBAPIError:  # not ours to make: a database's owner may, others may not
        return False
    return True
