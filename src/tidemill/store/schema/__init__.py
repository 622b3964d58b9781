"""The tables that every vertical shares, once each; a vertical defines its own in its `store/tables.py`."""

from tidemill.store.schema.base import metadata
from tidemill.store.schema.discovery import municipalities, search_results, source_candidates
from tidemill.store.schema.enrichment import enrichment_wants, geocodes, model_answers
from tidemill.store.schema.pages import page_bodies, page_screenshots, pages
from tidemill.store.schema.proposals import selector_proposals
from tidemill.store.schema.quality import (
    drift_standings,
    field_baselines,
    quality_incidents,
    webhook_deliveries,
    webhook_subscriptions,
)
from tidemill.store.schema.records import raw_records, record_history, rejected_records, staged_records
from tidemill.store.schema.services import actor_runs, fetcher_upgrades, service_spend, service_status
from tidemill.store.schema.sources import adapter_status, hosts, sources, target_pages, targets
from tidemill.store.schema.upkeep import audit_log, engine_state, id_blocks, tick_slots
from tidemill.store.schema.work import breakers, dead_letters, jobs, runs, workers

__all__ = [
    "SOURCE_HEALTH_VIEW",
    "actor_runs",
    "adapter_status",
    "audit_log",
    "breakers",
    "dead_letters",
    "drift_standings",
    "engine_state",
    "enrichment_wants",
    "fetcher_upgrades",
    "field_baselines",
    "geocodes",
    "hosts",
    "id_blocks",
    "jobs",
    "metadata",
    "model_answers",
    "municipalities",
    "page_bodies",
    "page_screenshots",
    "pages",
    "quality_incidents",
    "raw_records",
    "record_history",
    "rejected_records",
    "runs",
    "search_results",
    "selector_proposals",
    "service_spend",
    "service_status",
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

SOURCE_HEALTH_VIEW = """
CREATE VIEW source_health_status AS
SELECT
  s.*,
  COALESCE(cb.state, 'CLOSED') AS circuit_state,
  COALESCE(cb.failure_count, 0) AS failure_count,
  cb.cooldown_until,
  COALESCE(cb.consecutive_opens, 0) AS consecutive_opens,
  CASE
    WHEN NOT s.enabled THEN FALSE
    WHEN s.auto_disabled THEN FALSE
    WHEN cb.state = 'OPEN' AND cb.cooldown_until > {now} THEN FALSE
    ELSE TRUE
  END AS is_available
FROM scraper_sources s
LEFT JOIN circuit_breaker_state cb ON s.id = cb.source_id
"""
"""The runbook's view; `{now}` is the database's own idea of the present in the form that moments are kept."""
