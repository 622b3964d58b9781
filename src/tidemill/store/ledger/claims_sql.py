"""The statements that a claim is made of, written out for both databases."""

from tidemill.core.job import SUSPECT_AFTER
from tidemill.store.database.codecs import BIGINT, BOOLEAN, MOMENT, TEXT, codecs_of
from tidemill.store.database.hot_statements import HotQuery, HotRows, ListOf
from tidemill.store.schema import breakers, hosts, jobs, sources, targets

PROMOTED_AT_ONCE = 500

# Conditions of partial indexes are spelled out, not bound: a planner only uses such an index when it can read them.
_READY_FETCH = "pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'"
_READY_LATER = "pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage <> 'fetch'"
_FETCHING = "pipeline_jobs.status = 'leased' AND pipeline_jobs.current_stage = 'fetch'"
_READY_OR_SUSPECT = f"status = CASE WHEN deaths >= {SUSPECT_AFTER} THEN 'waiting' ELSE 'ready' END, not_before = NULL"
"""A suspect goes on waiting, without a moment: it is claimed apart from all others."""
_WAITING_SUSPECT = "deaths >= 2 AND status IN ('waiting', 'leased') AND status = 'waiting' AND not_before IS NULL"
_BUSY = f"(SELECT count(*) FROM pipeline_jobs WHERE {_FETCHING} AND pipeline_jobs.host = hosts.host)"
_PACE = codecs_of(hosts, "host", "interval_ms", "burst", "parallel", "crawl_delay_ms", "tab_at")
"""As much of a host as decides when it may be asked; no moment is read that nobody looks at."""
_HELD = codecs_of(
    jobs, "id", "run_id", "source_id", "target_id", "vertical", "lane", "host", "url", "current_stage", "attempts",
    "max_attempts", "fence", "page_id", "trigger", "page_number", "deaths", "adapter_id",
)  # fmt: skip
"""As much of a job as its worker holds."""
_DATES = {"created_at", "updated_at"}
_SOURCE = codecs_of(sources, *(name for name in codecs_of(sources) if name not in _DATES))
_TARGET = codecs_of(targets, *(name for name in codecs_of(targets) if name not in _DATES))
_BREAKER = codecs_of(breakers)


def _guests(now: str) -> str:
    """Requests that a redirect led to the host: no job of its own stands for them."""
    return f"CASE WHEN hosts.guests_until > {now} THEN hosts.guests ELSE 0 END"


def _best(lane: str) -> str:
    return (
        f"(SELECT pipeline_jobs.rank FROM pipeline_jobs WHERE {_READY_FETCH} AND pipeline_jobs.host = hosts.host"
        f" AND pipeline_jobs.lane = {lane} ORDER BY pipeline_jobs.rank LIMIT 1)"
    )


def _is_free(now: str) -> str:
    return f"hosts.has_work AND hosts.opens_at <= {now} AND hosts.parallel > {_BUSY} + {_guests(now)}"


def _has_ready(lane: str) -> str:
    return (
        f"EXISTS (SELECT * FROM pipeline_jobs WHERE {_READY_FETCH} AND pipeline_jobs.host = hosts.host"
        f" AND pipeline_jobs.lane = {lane})"
    )


def _open_hosts(name: str, *, own: bool) -> HotQuery:
    """Hosts that may be asked now, best waiting job first; `own` leaves out those that have nothing for the lane."""

    def text(lane: str, now: str, limit: str) -> str:
        only = f" AND {_best(lane)} IS NOT NULL" if own else ""
        return (
            f"SELECT {', '.join(f'hosts.{column}' for column in _PACE)}, {_best(lane)} AS best,"
            f" {_BUSY} + {_guests(now)} AS busy FROM hosts WHERE {_is_free(now)}{only}"
            f" ORDER BY best NULLS LAST, hosts.served_at NULLS FIRST, hosts.host LIMIT {limit}"
        )

    return HotQuery(
        name,
        sqlite=text("?1", "?2", "?3"),
        postgres=f"{text('$1', '$2', '$3')} FOR UPDATE OF hosts SKIP LOCKED",
        takes={"lane": TEXT, "now": MOMENT, "limit": BIGINT},
        gives=_PACE | {"best": BIGINT, "busy": BIGINT},
    )


OPEN_HOSTS = _open_hosts("claims.open_hosts", own=False)
OWN_HOSTS = _open_hosts("claims.own_hosts", own=True)
"""For the side lanes: a host that has nothing for them is not theirs to lock."""

BEST_JOBS = HotQuery(
    "claims.best_jobs",
    sqlite=f"""
        SELECT pipeline_jobs.id, pipeline_jobs.host, pipeline_jobs.rank
        FROM hosts JOIN pipeline_jobs ON pipeline_jobs.id IN (
            SELECT pipeline_jobs.id FROM pipeline_jobs
            WHERE {_READY_FETCH} AND pipeline_jobs.host = hosts.host AND pipeline_jobs.lane = ?2
            ORDER BY pipeline_jobs.rank, pipeline_jobs.id LIMIT ?3)
        WHERE hosts.host IN (SELECT value FROM json_each(?1))
        ORDER BY pipeline_jobs.rank, pipeline_jobs.id""",
    postgres=f"""
        SELECT pipeline_jobs.id, pipeline_jobs.host, pipeline_jobs.rank
        FROM hosts CROSS JOIN LATERAL (
            SELECT pipeline_jobs.id FROM pipeline_jobs
            WHERE {_READY_FETCH} AND pipeline_jobs.host = hosts.host AND pipeline_jobs.lane = $2
            ORDER BY pipeline_jobs.rank, pipeline_jobs.id LIMIT $3) AS best
        JOIN pipeline_jobs ON pipeline_jobs.id = best.id
        WHERE hosts.host = ANY ($1::text[])
        ORDER BY pipeline_jobs.rank, pipeline_jobs.id
        FOR UPDATE OF pipeline_jobs SKIP LOCKED""",
    takes={"hosts": ListOf(TEXT), "lane": TEXT, "each": BIGINT},
    gives=codecs_of(jobs, "id", "host", "rank"),
)
"""The best ready jobs of every named host, by index alone: no more of the job than its place in line."""

RESUMABLE = HotQuery(
    "claims.resumable",
    sqlite=f"SELECT {', '.join(_HELD)} FROM pipeline_jobs WHERE {_READY_LATER} AND lane = ?1"
    " ORDER BY rank, id LIMIT ?2",
    postgres=f"SELECT {', '.join(_HELD)} FROM pipeline_jobs WHERE {_READY_LATER} AND lane = $1"
    " ORDER BY rank, id LIMIT $2 FOR UPDATE SKIP LOCKED",
    takes={"lane": TEXT, "limit": BIGINT},
    gives=_HELD,
)
PROMOTABLE = HotQuery(
    "claims.promotable",
    sqlite="SELECT id, host FROM pipeline_jobs WHERE status = 'waiting' AND not_before <= ?1"
    f" ORDER BY not_before LIMIT {PROMOTED_AT_ONCE}",
    postgres="SELECT id, host FROM pipeline_jobs WHERE status = 'waiting' AND not_before <= $1"
    f" ORDER BY not_before LIMIT {PROMOTED_AT_ONCE} FOR UPDATE SKIP LOCKED",
    takes={"now": MOMENT},
    gives=codecs_of(jobs, "id", "host"),
)
PROMOTE = HotQuery(
    "claims.promote",
    sqlite=f"UPDATE pipeline_jobs SET {_READY_OR_SUSPECT} WHERE id IN (SELECT value FROM json_each(?1))",
    postgres=f"UPDATE pipeline_jobs SET {_READY_OR_SUSPECT} WHERE id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT)},
)
LEASE = HotQuery(
    "claims.lease",
    sqlite="UPDATE pipeline_jobs SET status = 'leased', fence = fence + 1, leased_by = ?2, leased_at = ?3,"
    " started_at = coalesce(started_at, ?3) WHERE id IN (SELECT value FROM json_each(?1))",
    postgres="UPDATE pipeline_jobs SET status = 'leased', fence = fence + 1, leased_by = $2, leased_at = $3,"
    " started_at = coalesce(started_at, $3) WHERE id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT), "worker": BIGINT, "now": MOMENT},
)
MARK_WORK = HotQuery(
    "claims.mark_work",
    sqlite="UPDATE hosts SET has_work = 1 WHERE host IN (SELECT value FROM json_each(?1)) AND has_work = 0",
    postgres="UPDATE hosts SET has_work = true WHERE host = ANY ($1::text[]) AND NOT has_work",
    takes={"hosts": ListOf(TEXT)},
)
_NONE_READY = f"NOT EXISTS (SELECT * FROM pipeline_jobs WHERE {_READY_FETCH} AND pipeline_jobs.host = hosts.host)"
CLEAR_IDLE = HotQuery(
    "claims.clear_idle",
    sqlite=f"UPDATE hosts SET has_work = 0 WHERE host IN (SELECT value FROM json_each(?1)) AND {_NONE_READY}",
    postgres=f"UPDATE hosts SET has_work = false WHERE host = ANY ($1::text[]) AND {_NONE_READY}",
    takes={"hosts": ListOf(TEXT)},
)
CHARGE_HOSTS = HotRows(
    "claims.charge_hosts",
    codecs_of(hosts, "host", "tab_at", "opens_at", "served_at"),
    """
    WITH v ({columns}) AS ({rows})
    UPDATE hosts SET tab_at = v.tab_at, opens_at = v.opens_at, served_at = v.served_at
    FROM v WHERE hosts.host = v.host""",
)

MOMENTS = HotQuery(
    "claims.moments",
    sqlite="SELECT (SELECT min(opens_at) FROM hosts WHERE has_work AND opens_at > ?1),"
    " (SELECT min(not_before) FROM pipeline_jobs WHERE status = 'waiting' AND not_before > ?1),"
    f" (SELECT ?2 FROM pipeline_jobs WHERE {_WAITING_SUSPECT} AND lane = 'http' LIMIT 1)",
    postgres="SELECT (SELECT min(opens_at) FROM hosts WHERE has_work AND opens_at > $1),"
    " (SELECT min(not_before) FROM pipeline_jobs WHERE status = 'waiting' AND not_before > $1),"
    f" (SELECT $2::timestamptz FROM pipeline_jobs WHERE {_WAITING_SUSPECT} AND lane = 'http' LIMIT 1)",
    takes={"now": MOMENT, "suspects_at": MOMENT},
    gives={"opens_at": MOMENT, "not_before": MOMENT, "suspects_at": MOMENT},
)
MOMENTS_OF_LANE = HotQuery(
    "claims.moments_of_lane",
    sqlite=f"SELECT (SELECT min(opens_at) FROM hosts WHERE has_work AND opens_at > ?1 AND {_has_ready('?2')}),"
    " (SELECT min(not_before) FROM pipeline_jobs WHERE status = 'waiting' AND not_before > ?1 AND lane = ?2),"
    f" (SELECT ?3 FROM pipeline_jobs WHERE {_WAITING_SUSPECT} AND lane = ?2 LIMIT 1)",
    postgres=f"SELECT (SELECT min(opens_at) FROM hosts WHERE has_work AND opens_at > $1 AND {_has_ready('$2')}),"
    " (SELECT min(not_before) FROM pipeline_jobs WHERE status = 'waiting' AND not_before > $1 AND lane = $2),"
    f" (SELECT $3::timestamptz FROM pipeline_jobs WHERE {_WAITING_SUSPECT} AND lane = $2 LIMIT 1)",
    takes={"now": MOMENT, "lane": TEXT, "suspects_at": MOMENT},
    gives={"opens_at": MOMENT, "not_before": MOMENT, "suspects_at": MOMENT},
)
PASSED_OVER = HotQuery(
    "claims.passed_over",
    sqlite=f"SELECT EXISTS (SELECT * FROM hosts WHERE {_is_free('?1')} AND {_has_ready('?2')})",
    postgres=f"SELECT EXISTS (SELECT * FROM hosts WHERE {_is_free('$1')} AND {_has_ready('$2')})",
    takes={"now": MOMENT, "lane": TEXT},
    gives={"is_contested": BOOLEAN},
)

JOBS_BY_ID = HotQuery(
    "claims.jobs_by_id",
    sqlite=f"SELECT {', '.join(_HELD)} FROM pipeline_jobs WHERE id IN (SELECT value FROM json_each(?1))",
    postgres=f"SELECT {', '.join(_HELD)} FROM pipeline_jobs WHERE id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT)},
    gives=_HELD,
)
SOURCES_BY_ID = HotQuery(
    "claims.sources_by_id",
    sqlite=f"SELECT {', '.join(_SOURCE)} FROM scraper_sources WHERE id IN (SELECT value FROM json_each(?1))",
    postgres=f"SELECT {', '.join(_SOURCE)} FROM scraper_sources WHERE id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT)},
    gives=_SOURCE,
)
TARGETS_BY_ID = HotQuery(
    "claims.targets_by_id",
    sqlite=f"SELECT {', '.join(_TARGET)} FROM scrape_targets WHERE id IN (SELECT value FROM json_each(?1))",
    postgres=f"SELECT {', '.join(_TARGET)} FROM scrape_targets WHERE id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT)},
    gives=_TARGET,
)
BREAKERS_BY_SOURCE = HotQuery(
    "claims.breakers_by_source",
    sqlite=f"SELECT {', '.join(_BREAKER)} FROM circuit_breaker_state"
    " WHERE source_id IN (SELECT value FROM json_each(?1))",
    postgres=f"SELECT {', '.join(_BREAKER)} FROM circuit_breaker_state WHERE source_id = ANY ($1::bigint[])",
    takes={"ids": ListOf(BIGINT)},
    gives=_BREAKER,
)
PACES_BY_HOST = HotQuery(
    "claims.paces_by_host",
    sqlite=f"SELECT {', '.join(_PACE)} FROM hosts WHERE host IN (SELECT value FROM json_each(?1))",
    postgres=f"SELECT {', '.join(_PACE)} FROM hosts WHERE host = ANY ($1::text[])",
    takes={"ids": ListOf(TEXT)},
    gives=_PACE,
)

SUSPECTS = HotQuery(
    "claims.suspects",
    sqlite="SELECT id, lane, leased_by, leased_at, status, not_before FROM pipeline_jobs"
    " WHERE deaths >= 2 AND status IN ('waiting', 'leased') ORDER BY status, id LIMIT ?1",
    postgres="SELECT id, lane, leased_by, leased_at, status, not_before FROM pipeline_jobs"
    " WHERE deaths >= 2 AND status IN ('waiting', 'leased') ORDER BY status, id LIMIT $1",
    takes={"limit": BIGINT},
    gives=codecs_of(jobs, "id", "lane", "leased_by", "leased_at", "status", "not_before"),
)
"""Hardly ever any, and then by an index of their own: those that workers have in hand first."""
_LONE = _HELD | {name: codec for name, codec in _PACE.items() if name not in _HELD}
_LONE_COLUMNS = ", ".join(f"{'pipeline_jobs' if name in _HELD else 'hosts'}.{name}" for name in _LONE)


def _lone(ids: str, now: str) -> str:
    open_host = f"hosts.opens_at <= {now} AND hosts.parallel > {_BUSY} + {_guests(now)}"
    return (
        f"SELECT {_LONE_COLUMNS} FROM pipeline_jobs JOIN hosts ON hosts.host = pipeline_jobs.host"
        f" WHERE pipeline_jobs.id {ids} AND pipeline_jobs.status = 'waiting' AND pipeline_jobs.not_before IS NULL"
        f" AND (pipeline_jobs.current_stage <> 'fetch' OR ({open_host})) ORDER BY pipeline_jobs.id LIMIT 1"
    )


LONE_SUSPECT = HotQuery(
    "claims.lone_suspect",
    sqlite=_lone("IN (SELECT value FROM json_each(?1))", "?2"),
    postgres=f"{_lone('= ANY ($1::bigint[])', '$2')} FOR UPDATE OF pipeline_jobs, hosts SKIP LOCKED",
    takes={"ids": ListOf(BIGINT), "now": MOMENT},
    gives=_LONE,
)
"""The first of these that may be taken now, with its host's pace."""
HAS_JOBS = HotQuery(
    "claims.has_jobs",
    sqlite="SELECT EXISTS (SELECT * FROM pipeline_jobs WHERE status = 'leased' AND leased_by = ?1)",
    postgres="SELECT EXISTS (SELECT * FROM pipeline_jobs WHERE status = 'leased' AND leased_by = $1)",
    takes={"worker": BIGINT},
    gives={"has_jobs": BOOLEAN},
)
