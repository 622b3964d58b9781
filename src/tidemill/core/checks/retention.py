"""How long each table keeps what nobody needs any more, and within what bounds that may be set."""

from collections.abc import Mapping
from datetime import timedelta

from tidemill.core.checks.suggestions import unknown_name

DEFAULT_RULES: Mapping[str, timedelta] = {
    "raw_pages": timedelta(days=90),
    "page_screenshots": timedelta(days=30),
    "raw_records": timedelta(days=14),
    "staged_records": timedelta(days=45),
    "rejected_records": timedelta(days=30),
    "pipeline_jobs": timedelta(days=30),
    "scrape_runs": timedelta(days=365),
    "dead_letter_queue": timedelta(days=90),
    "record_history": timedelta(days=730),
    "shown_records": timedelta(days=730),
    "seen_records": timedelta(days=730),
    "record_changes": timedelta(days=30),
    "tick_slots": timedelta(days=14),
    "workers": timedelta(days=30),
    "audit_log": timedelta(days=730),
    "actor_runs": timedelta(days=90),
    "webhook_deliveries": timedelta(days=30),
    "incidents": timedelta(days=365),
    "alert_outbox": timedelta(days=30),
    "run_rounds": timedelta(days=365),
    "objective_hours": timedelta(days=365),
    "scraper_health_log": timedelta(days=7),
    "scraper_errors": timedelta(days=30),
    "replays": timedelta(days=365),
    "replay_pages": timedelta(days=1),
}
"""How long each table keeps what nobody needs any more."""

SHORTEST_DAYS: Mapping[str, float] = {
    "scrape_runs": 8,  # drift compares a run with those of the last 7 days
    "objective_hours": 93,  # an objective looks back for up to three months
    "audit_log": 30,  # who did what must outlive the next look at it
}
"""The fewest days of tables that something else reads back; one day for the others."""

LONGEST_DAYS = 36_500
SHORTEST_OTHERWISE = 1


def retention_problem(table: str, days: float) -> str:
    """Return why a table cannot be kept for so many days; '' if it can."""
    if table not in DEFAULT_RULES:
        return unknown_name("table", table, DEFAULT_RULES)
    shortest = SHORTEST_DAYS.get(table, SHORTEST_OTHERWISE)
    if not shortest <= days <= LONGEST_DAYS:
        return f"{table}: {days:g} days is out of bounds; write {shortest:g} to {LONGEST_DAYS}"
    return ""
