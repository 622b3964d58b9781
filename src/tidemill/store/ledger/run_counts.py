"""A run's share of a batch: what its jobs' checkpoints add to its counts, and whether they were its last."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.failure import MEANING, Failure
from tidemill.core.job import Job, JobStatus
from tidemill.core.verdict import Dropped
from tidemill.core.vertical import NotableReason
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Judged, WriteCounts
from tidemill.pipeline.kept_readings import KeptReading
from tidemill.store.database.codecs import BIGINT, BOOLEAN, INTEGER, codecs_of
from tidemill.store.database.hot_statements import HotQuery, HotRows, ListOf
from tidemill.store.schema import runs

MOST_FIELDS = 100
"""Names counted per run; pages do not choose field names, adapters do, and none has as many."""
COUNTED = (
    "urls_attempted", "urls_succeeded", "urls_failed", "urls_refused", "pages_unchanged", "records_read",
    "records_accepted", "records_dropped", "records_quarantined", "records_inserted", "records_updated",
    "records_unchanged", "records_repeated", "records_seen_again", "truncated_pages", "poorer_pages",
    "pages_followed",
    "urls_drifted", "urls_unusable", "oos_no_price_count", "zero_price_count",
)  # fmt: skip


class RunCounts:
    """What a batch adds to a run's counts."""

    def __init__(self) -> None:
        """Start from nothing."""
        self.ended = 0
        self.total = 0
        self.counts = dict.fromkeys(COUNTED, 0)
        self.fields: Counter[str] = Counter()

    def add(self, **counts: int) -> None:
        """Add to the counts."""
        for name, count in counts.items():
            self.counts[name] += count

    def count_fields(self, reading: KeptReading) -> None:
        """Add which fields a page's records have, and all records under `*`."""
        self.fields.update(reading.fields)
        self.fields["*"] += reading.records

    def follow(self) -> None:
        """Count a further page of a list, which has become a job of the run."""
        self.counts["pages_followed"] += 1

    @property
    def fewer(self) -> int:
        """By how much fewer jobs the run waits for."""
        return self.ended - self.counts["pages_followed"]

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to add, as after a fetch that merely went on."""
        return not (self.ended or self.total or self.fields or any(self.counts.values()))


HOLD_RUNS = HotQuery(
    "runs.hold",
    sqlite="SELECT id, open_jobs, status, field_counts FROM scrape_runs"
    " WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id",
    postgres="SELECT id, open_jobs, status, field_counts FROM scrape_runs"
    " WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE",
    takes={"ids": ListOf(BIGINT)},
    gives=codecs_of(runs, "id", "open_jobs", "status", "field_counts"),
)
_ADDED = ", ".join(f"{name} = scrape_runs.{name} + v.{name}" for name in COUNTED)
ADD_TO_RUNS = HotRows(
    "runs.add",
    {"id": BIGINT, "fewer": INTEGER, "total": INTEGER, "counts_fields": BOOLEAN}
    | codecs_of(runs, "field_counts", *COUNTED),
    f"""
    WITH v ({{columns}}) AS ({{rows}})
    UPDATE scrape_runs SET open_jobs = scrape_runs.open_jobs - v.fewer,
        claimed_total = CASE WHEN v.total > 0 THEN coalesce(scrape_runs.claimed_total, 0) + v.total
            ELSE scrape_runs.claimed_total END,
        field_counts = CASE WHEN v.counts_fields THEN v.field_counts ELSE scrape_runs.field_counts END,
        {_ADDED}
    FROM v WHERE scrape_runs.id = v.id""",  # noqa: S608 - names of ours
)


async def settle_runs(connection: AsyncConnection, tallies: Mapping[int, RunCounts]) -> tuple[int, ...]:
    """Add a batch's counts to its runs, by key; answers the runs to which no job owes anything any more.

    The rows are held from here to the commit, in order of key: what is read here is still true when they are written.
    """
    telling = {key: tally for key, tally in tallies.items() if not tally.is_nothing}
    if not telling:
        return ()
    held = await HOLD_RUNS.fetch(connection, ids=sorted(telling))
    await ADD_TO_RUNS.write_at_commit(connection, [_run_row(row, telling[row["id"]]) for row in held])
    return tuple(row["id"] for row in held if _is_finished(row, telling[row["id"]]))


def _run_row(row: Mapping[str, Any], tally: RunCounts) -> dict[str, Any]:
    fields = merged(row["field_counts"] or {}, tally.fields) if tally.fields else {}
    return {
        "id": row["id"],
        "fewer": tally.fewer,
        "total": tally.total,
        "counts_fields": bool(tally.fields),
        "field_counts": fields,
        **tally.counts,
    }


def _is_finished(row: Mapping[str, Any], tally: RunCounts) -> bool:
    return bool(tally.ended) and row["status"] == "RUNNING" and row["open_jobs"] == tally.fewer


def merged(before: Mapping[str, int], now: Counter[str]) -> dict[str, int]:
    """How many records had each field, before and now, the commonest fields first."""
    return dict((Counter(before) + now).most_common(MOST_FIELDS))


def count_end(tally: RunCounts, checkpoint: Checkpoint) -> None:
    """Count a job that ended."""
    status = checkpoint.transition.status
    tally.ended += 1
    tally.add(
        urls_attempted=1,
        urls_succeeded=int(status is JobStatus.DONE),
        urls_failed=int(status is JobStatus.DEAD),
        urls_refused=int(status is JobStatus.REFUSED),
        urls_drifted=int(status is JobStatus.DEAD and is_drift(checkpoint.transition.failure)),
    )


def is_drift(failure: Failure | None) -> bool:
    """Whether a failure says that the adapter no longer fits the page."""
    return failure is not None and MEANING[failure].is_drift


def count_verdicts(tally: RunCounts, job: Job, judged: Judged, notable: Mapping[str, NotableReason]) -> None:
    """Count a page's verdicts; every raw record ends in exactly one of the three, notable reasons are counted apart.

    Each page of a list repeats the list's total, so that of the first page counts.
    """
    kept, rejected = len(judged.accepted), judged.rejected
    tally.total += judged.total or 0 if job.page_number == 1 else 0
    tally.add(
        records_read=kept + len(rejected),
        records_accepted=kept,
        truncated_pages=int(judged.truncated),
        poorer_pages=int(judged.poorer is not None),
        urls_unusable=int(judged.unusable),
        urls_drifted=int(judged.unusable),
    )
    if rejected:
        dropped = sum(isinstance(each.verdict, Dropped) for each in rejected)
        tally.add(
            records_dropped=dropped,
            records_quarantined=len(rejected) - dropped,
            **Counter(notable[reason].column for each in rejected if (reason := each.verdict.reason) in notable),
        )


def count_kept(tally: RunCounts, harvest: AcceptedRecords, kept: WriteCounts) -> None:
    """Count what became of the accepted ones."""
    tally.add(
        records_inserted=kept.inserted,
        records_updated=kept.updated,
        records_unchanged=kept.unchanged,
        records_repeated=harvest.repeated,
        records_accepted=-kept.dropped - kept.held_back,
        records_dropped=kept.dropped,
        records_quarantined=kept.held_back,
    )
