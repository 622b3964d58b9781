"""The tables that every vertical shares, once each; a vertical defines its own in its `store/tables.py`."""

from tidemill.store.database.keys import id_blocks
from tidemill.store.database.metadata import metadata
from tidemill.store.schema.access import (
    api_tokens,
    idempotency_keys,
    login_failures,
    one_time_links,
    people,
    sessions,
)
from tidemill.store.schema.discovery import municipalities, search_results, source_candidates
from tidemill.store.schema.enrichment import enrichment_wants, geocodes, model_answers
from tidemill.store.schema.health import recoveries, scraper_contexts, scraper_errors, scraper_health_log
from tidemill.store.schema.incidents import alert_outbox, incident_notes, incidents, objective_hours, run_rounds
from tidemill.store.schema.live import live_moves, live_pages, live_things
from tidemill.store.schema.pages import page_bodies, page_screenshots, pages
from tidemill.store.schema.proposals import selector_proposals
from tidemill.store.schema.quality import (
    drift_standings,
    field_baselines,
    webhook_deliveries,
    webhook_subscriptions,
)
from tidemill.store.schema.records import (
    IS_OPEN_SUBJECT,
    raw_records,
    record_changes,
    record_history,
    rejected_records,
    seen_records,
    shown_records,
    staged_records,
)
from tidemill.store.schema.replays import adapter_versions, reading_changes, replay_pages, replays
from tidemill.store.schema.services import actor_runs, fetcher_upgrades, service_spend, service_status
from tidemill.store.schema.snapshots import cached_values, change_log, snapshot_history, snapshots
from tidemill.store.schema.sources import adapter_status, hosts, sources, target_pages, targets
from tidemill.store.schema.upkeep import audit_log, engine_state, tick_slots
from tidemill.store.schema.work import IS_OPEN, breakers, dead_letters, jobs, runs, workers

__all__ = [
    "IS_OPEN",
    "IS_OPEN_SUBJECT",
    "actor_runs",
    "adapter_status",
    "adapter_versions",
    "alert_outbox",
    "api_tokens",
    "audit_log",
    "breakers",
    "cached_values",
    "change_log",
    "dead_letters",
    "drift_standings",
    "engine_state",
    "enrichment_wants",
    "fetcher_upgrades",
    "field_baselines",
    "geocodes",
    "hosts",
    "id_blocks",
    "idempotency_keys",
    "incident_notes",
    "incidents",
    "jobs",
    "live_moves",
    "live_pages",
    "live_things",
    "login_failures",
    "metadata",
    "model_answers",
    "municipalities",
    "objective_hours",
    "one_time_links",
    "page_bodies",
    "page_screenshots",
    "pages",
    "people",
    "raw_records",
    "reading_changes",
    "record_changes",
    "record_history",
    "recoveries",
    "rejected_records",
    "replay_pages",
    "replays",
    "run_rounds",
    "runs",
    "scraper_contexts",
    "scraper_errors",
    "scraper_health_log",
    "search_results",
    "seen_records",
    "selector_proposals",
    "service_spend",
    "service_status",
    "sessions",
    "shown_records",
    "snapshot_history",
    "snapshots",
    "source_candidates",
    "sources",
    "staged_records",
    "target_pages",
    "targets",
    "tick_slots",
    "webhook_deliveries",
    "webhook_subscriptions",
    "workers",
]
