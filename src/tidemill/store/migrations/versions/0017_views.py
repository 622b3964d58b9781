"""Sources show their priority score, and the events seed's raw_events and staged_events can be asked for."""

from alembic import op

revision = "0017"
down_revision = "0016"

_NOW = {"sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)", "postgresql": "now()"}
_DAYS = {
    "sqlite": "({now} - s.last_scraped_at) / 86400000000.0",
    "postgresql": "EXTRACT(EPOCH FROM ({now} - s.last_scraped_at)) / 86400.0",
}
_BEFORE = """
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
  END AS is_available{more}
FROM scraper_sources s
LEFT JOIN circuit_breaker_state cb ON s.id = cb.source_id
"""
_SCORE = """,
  COALESCE({days}, {never}) * 10 + s.historical_count / 10.0 + s.reliability * 5 - s.consecutive_failures * 20
    AS priority_score"""
NEVER_DAYS = 30
"""A source that was never scraped counts as this many days old, as `core.source.days_since_scrape` has it."""
_RAW = """
CREATE VIEW raw_events AS
SELECT r.page_id AS id, r.job_id, r.page_id, p.source_id, p.final_url AS detail_url, r.strategy AS parse_strategy,
  r.adapter_id, r.adapter_version, r.records,
  CASE WHEN s.page_id IS NULL THEN 'pending' ELSE 'normalized' END AS status, r.created_at
FROM raw_records r
JOIN raw_pages p ON p.id = r.page_id
JOIN scraper_sources c ON c.id = p.source_id AND c.vertical = 'events'
LEFT JOIN staged_records s ON s.page_id = r.page_id
"""
_STAGED = """
CREATE VIEW staged_events AS
SELECT s.page_id AS id, s.job_id, s.page_id AS raw_event_id, p.source_id, s.accepted, s.dropped, s.quarantined,
  CASE WHEN j.status = 'done' THEN 'persisted' WHEN j.status = 'dead' THEN 'failed' ELSE 'pending' END AS status,
  s.created_at
FROM staged_records s
JOIN raw_pages p ON p.id = s.page_id
JOIN scraper_sources c ON c.id = p.source_id AND c.vertical = 'events'
LEFT JOIN pipeline_jobs j ON j.id = s.job_id
"""


def upgrade() -> None:
    """Make the views: one row per page, because a page's records are kept together."""
    dialect = op.get_bind().dialect.name
    now = _NOW[dialect]
    score = _SCORE.format(days=_DAYS[dialect].format(now=now), never=NEVER_DAYS)
    op.execute("DROP VIEW source_health_status")
    op.execute(_BEFORE.format(now=now, more=score))
    op.execute(_RAW)
    op.execute(_STAGED)


def downgrade() -> None:
    """Drop them."""
    op.execute("DROP VIEW staged_events")
    op.execute("DROP VIEW raw_events")
    op.execute("DROP VIEW source_health_status")
    op.execute(_BEFORE.format(now=_NOW[op.get_bind().dialect.name], more=""))
