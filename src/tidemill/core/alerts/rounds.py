"""Rounds of runs: which runs are told of together, and the summary that is sent of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.alerts.incidents import length_in_words
from tidemill.core.alerts.messages import AlertNotice

ROUND_GAP = timedelta(minutes=5)
"""Runs that begin within this of each other, or while others of their round go on, are of one round."""
LONGEST_ROUND = timedelta(hours=24)
DAY = timedelta(days=1)
MOST_NAMES = 20


class RoundRun(msgspec.Struct, frozen=True):
    """A run as far as rounds look at it; `completed_at` is None while it goes on."""

    started_at: datetime
    completed_at: datetime | None


class RoundWindow(msgspec.Struct, frozen=True):
    """The runs that began from `since` to `until`, both included, make a round that has ended."""

    since: datetime
    until: datetime


class RoundSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a round of runs came to; `run_id` is that of its first run."""

    run_id: int
    vertical: str
    started_at: datetime
    completed_at: datetime
    runs: int
    sources_processed: int
    records_inserted: int
    records_updated: int
    records_skipped: int
    errors: int
    circuit_breakers_tripped: tuple[str, ...] = ()
    dlq_items_added: int = 0
    complete_runs: int = 0
    degraded: tuple[str, ...] = ()
    unfinished: int = 0


def ended_round(runs: Sequence[RoundRun], now: datetime) -> RoundWindow | None:
    """Return the first round among runs that nobody was told of; None while it goes on, or may be joined.

    `runs` are in the order in which they began. Jitter spreads one slot of the schedule over a few dispatches, and a
    host with many targets gets them in slices; all of these are one round.
    """
    if not runs:
        return None
    first = runs[0].started_at
    last, ends = first, first
    for run in runs:
        if run.started_at - first >= LONGEST_ROUND or run.started_at > ends + ROUND_GAP:
            return RoundWindow(first, last)
        last = run.started_at
        ends = max(ends, run.completed_at or now)
    is_over = now - ends > ROUND_GAP or now - first >= LONGEST_ROUND
    return RoundWindow(first, last) if is_over else None


def ended_day(runs: Sequence[RoundRun], now: datetime) -> RoundWindow | None:
    """Return the first day (UTC) among runs that nobody was told of, once it is over."""
    if not runs:
        return None
    day = runs[0].started_at.replace(hour=0, minute=0, second=0, microsecond=0)
    mine = [run for run in runs if run.started_at < day + DAY]
    over = now >= day + DAY + ROUND_GAP
    return RoundWindow(runs[0].started_at, mine[-1].started_at) if over else None


def round_notice(summary: RoundSummary, now: datetime) -> AlertNotice:
    """Return the message about a round: the figures first, then what needs a person."""
    took = length_in_words(summary.completed_at - summary.started_at)
    figures = (
        f"*Sources:* {summary.sources_processed} in {summary.runs} runs, {summary.started_at:%Y-%m-%d %H:%M} to "
        f"{summary.completed_at:%H:%M} UTC ({took}); first run {summary.run_id}\n"
        f"*Inserted:* {summary.records_inserted}\n*Updated:* {summary.records_updated}\n"
        f"*Skipped:* {summary.records_skipped}\n*Errors:* {summary.errors}\n"
        f"*Dead letters added:* {summary.dlq_items_added}\n"
        f"*Complete:* {summary.complete_runs} of {summary.runs} runs"
    )
    parts = [figures]
    if summary.circuit_breakers_tripped:
        parts.append("*Circuit breakers tripped:*\n" + _names(summary.circuit_breakers_tripped))
    if summary.degraded:
        parts.append("*Did without:* " + _names(summary.degraded))
    if summary.unfinished:
        parts.append(f"{summary.unfinished} runs of this round still go on and are not counted.")
    mark = " with errors" if summary.errors or summary.circuit_breakers_tripped else ""
    return AlertNotice(
        key=f"round {summary.vertical} {summary.started_at.isoformat()}",
        kind="round",
        title=f"Scrape of {summary.vertical} complete{mark}",
        paragraphs=tuple(parts),
        vertical=summary.vertical,
        at=now,
    )


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
