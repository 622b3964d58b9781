"""The statements by which checkpoints move jobs, targets, sources and hosts."""

from tidemill.store.database.codecs import BIGINT, BOOLEAN, INTEGER, MOMENT, TEXT, codecs_of
from tidemill.store.database.hot_statements import HotQuery, HotRows, ListOf
from tidemill.store.schema import hosts, jobs, sources, targets

FENCES = HotQuery(
    "checkpoints.fences",
    sqlite="SELECT id, fence, current_stage FROM pipeline_jobs"
    " WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id",
    postgres="SELECT id, fence, current_stage FROM pipeline_jobs WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE",
    takes={"ids": ListOf(BIGINT)},
    gives=codecs_of(jobs, "id", "fence", "current_stage"),
)
MOVE_ONWARD = HotRows(
    "checkpoints.move_onward",
    codecs_of(jobs, "id", "current_stage", "attempts", "page_id"),
    """
    WITH v ({columns}) AS ({rows})
    UPDATE pipeline_jobs SET current_stage = v.current_stage, attempts = v.attempts, page_id = v.page_id,
        not_before = NULL, failure = NULL, last_error = NULL, completed_at = NULL
    FROM v WHERE pipeline_jobs.id = v.id""",
)
"""For most moves, from one stage to the next in the same hands; what lists jobs by status is left alone."""
MOVE_AWAY = HotRows(
    "checkpoints.move_away",
    codecs_of(
        jobs, "id", "current_stage", "status", "attempts", "not_before", "page_id", "failure", "last_error",
        "completed_at",
    ),
    """
    WITH v ({columns}) AS ({rows})
    UPDATE pipeline_jobs SET current_stage = v.current_stage, status = v.status, attempts = v.attempts,
        not_before = v.not_before, page_id = v.page_id, failure = v.failure, last_error = v.last_error,
        completed_at = v.completed_at, leased_by = NULL, fence = pipeline_jobs.fence + 1
    FROM v WHERE pipeline_jobs.id = v.id""",
)  # fmt: skip
"""For moves by which a worker lets go of a job: the fence is raised."""

SETTLE_TARGETS = HotRows(
    "checkpoints.settle_targets",
    codecs_of(
        targets, "id", "status", "consecutive_failures", "last_scraped_at", "last_status", "etag", "last_modified",
        "good_page_id", "good_digest", "good_reader", "good_shape",
    ) | {"is_well": BOOLEAN, "breaks": BOOLEAN, "at_once": MOMENT, "recheck": MOMENT},
    # A person who paused it while its job was in hand has the last word. The row itself is asked whether it was
    # broken: a letter's retry may have broken or revived it meanwhile.
    """
    WITH v ({columns}) AS ({rows})
    UPDATE scrape_targets SET
        status = CASE WHEN scrape_targets.status = 'PAUSED' THEN scrape_targets.status ELSE v.status END,
        consecutive_failures = v.consecutive_failures, last_scraped_at = v.last_scraped_at,
        last_status = v.last_status, etag = v.etag, last_modified = v.last_modified, good_page_id = v.good_page_id,
        good_digest = v.good_digest, good_reader = v.good_reader, good_shape = v.good_shape,
        next_due_at = CASE
            WHEN v.is_well AND scrape_targets.status = 'BROKEN' THEN v.at_once
            WHEN v.breaks AND scrape_targets.status <> 'BROKEN' THEN v.recheck
            ELSE scrape_targets.next_due_at END
    FROM v WHERE scrape_targets.id = v.id""",
)  # fmt: skip

HOLD_SOURCES = HotQuery(
    "checkpoints.hold_sources",
    sqlite="SELECT id FROM scraper_sources WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id",
    postgres="SELECT id FROM scraper_sources WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE",
    takes={"ids": ListOf(BIGINT)},
    gives=codecs_of(sources, "id"),
)
"""Holds the rows in order of key: two workers that end jobs of the same sources wait one for the other, never both."""
SETTLE_SOURCES = HotRows(
    "checkpoints.settle_sources",
    {"id": BIGINT, "ended_at": MOMENT, "is_well": BOOLEAN, "failures": INTEGER},
    """
    WITH v ({columns}) AS ({rows})
    UPDATE scraper_sources SET last_scraped_at = v.ended_at,
        last_success_at = CASE WHEN v.is_well THEN v.ended_at ELSE scraper_sources.last_success_at END,
        consecutive_failures =
            CASE WHEN v.is_well THEN 0 ELSE scraper_sources.consecutive_failures + v.failures END
    FROM v WHERE scraper_sources.id = v.id""",
)
HOLD_HOSTS = HotQuery(
    "checkpoints.hold_hosts",
    sqlite="SELECT host FROM hosts WHERE host IN (SELECT value FROM json_each(?1)) ORDER BY host",
    postgres="SELECT host FROM hosts WHERE host = ANY ($1::text[]) ORDER BY host FOR NO KEY UPDATE",
    takes={"hosts": ListOf(TEXT)},
    gives=codecs_of(hosts, "host"),
)
"""As for sources: PostgreSQL may take the rows of an UPDATE in any order."""
SETTLE_HOSTS = HotRows(
    "checkpoints.settle_hosts",
    codecs_of(hosts, "host", "tab_at", "opens_at", "crawl_delay_ms"),
    """
    WITH v ({columns}) AS ({rows})
    UPDATE hosts SET crawl_delay_ms = v.crawl_delay_ms,
        tab_at = CASE WHEN hosts.tab_at > v.tab_at THEN hosts.tab_at ELSE v.tab_at END,
        opens_at = CASE WHEN hosts.opens_at > v.opens_at THEN hosts.opens_at ELSE v.opens_at END
    FROM v WHERE hosts.host = v.host""",
)
