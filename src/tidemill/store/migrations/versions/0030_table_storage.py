"""How PostgreSQL stores and cleans the tables that are written most."""

from collections.abc import Mapping

from alembic import op

revision = "0030"
down_revision = "0029"

UPDATED_IN_PLACE = ("workers", "circuit_breaker_state", "engine_state", "service_status", "scrape_runs",
                    "live_things", "scraper_contexts")  # fmt: skip
"""Few rows, each written again and again: half of a page stays free, so that the new version of a row fits beside the
old one and no index is written. Cleaned after a few hundred changes, whatever the size."""

QUEUES = ("pipeline_jobs", "scrape_targets", "hosts", "alert_outbox")
"""Rows that change a few times and then rest: cleaned when a fiftieth has changed, because what workers claim from is
at the one end of the index where dead rows gather."""

SETTINGS: Mapping[tuple[str, ...], Mapping[str, str]] = {
    UPDATED_IN_PLACE: {
        "fillfactor": "50",
        "autovacuum_vacuum_scale_factor": "0.05",
        "autovacuum_vacuum_threshold": "200",
        "autovacuum_analyze_scale_factor": "0.2",
    },
    QUEUES: {
        "autovacuum_vacuum_scale_factor": "0.02",
        "autovacuum_analyze_scale_factor": "0.02",
        "autovacuum_vacuum_cost_delay": "1",
    },
}


def upgrade() -> None:
    """Take the step; it holds a lock that neither reading nor writing minds."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for tables, settings in SETTINGS.items():
        words = ", ".join(f"{name} = {value}" for name, value in settings.items())
        for table in tables:
            op.execute(f"ALTER TABLE {table} SET ({words})")


def downgrade() -> None:
    """Take it back."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for tables, settings in SETTINGS.items():
        for table in tables:
            op.execute(f"ALTER TABLE {table} RESET ({', '.join(settings)})")
