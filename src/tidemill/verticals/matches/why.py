"""Explains a match: whether it is watched, by which sites, how fresh it is, and where a field is from."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.staleness import is_fresh
from tidemill.operations.mistakes import NotFound
from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    explanation_of,
    format_relative,
    info_step,
    passing_step,
)
from tidemill.verticals.matches.record import MatchStatus
from tidemill.verticals.matches.views import ConflictView, MappedId, MatchPage

NOTED, ON_BREAK = timedelta(seconds=15), timedelta(seconds=45)
"""How much older the database's word may be than the check, and how much older while nobody plays."""


class MatchFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an explanation is made of."""

    key: str
    snapshot: ThingSnapshot | None
    ids: Sequence[MappedId]
    conflicts: Sequence[ConflictView]
    changes: Sequence[LoggedChange]
    merged_into: str
    pages: Sequence[MatchPage]


def why_match(facts: MatchFacts, field: str, now: datetime) -> Explanation:
    """Explain a match, or where one of its fields is from."""
    steps = [
        *_identity(facts),
        *(_page(page, now) for page in facts.pages),
        *_freshness(facts, now),
        *_origin(facts, field, now),
        *(_conflict(each, now) for each in facts.conflicts[:3]),
        *(_change(each, now) for each in facts.changes),
    ]
    subject = f"match {facts.key}" + (f".{field}" if field else "")
    seq = facts.snapshot.seq if facts.snapshot is not None else 0
    return explanation_of(subject, steps, f"watched, and fresh; {seq} entries in its log")


def _identity(facts: MatchFacts) -> list[Step]:
    if facts.merged_into:
        return [blocking_step("same match", f"it is {facts.merged_into}; its history stays here")]
    if not facts.ids:
        return [blocking_step("ids", "no source tells of it")]
    return [
        info_step("unsettled id", f"{each.source} {each.source_key}: {each.doubt}; `tidemill matches map` settles it")
        if each.doubt and not each.settled_by
        else passing_step("id", f"{each.source} calls it {each.source_key}")
        for each in facts.ids
    ]


def _page(page: MatchPage, now: datetime) -> Step:
    if not page.is_enabled:
        return blocking_step(f"page of {page.source}", "paused; `tidemill matches resume` takes it up again")
    checked = f"checked {format_relative(page.checked_at, now)}" if page.checked_at else "not checked yet"
    debt = (
        f", {page.debt_seconds:.1f} s behind its interval because the host allows no more" if page.debt_seconds else ""
    )
    return info_step(f"page of {page.source}", f"{page.url}: {checked}{debt}")


def _freshness(facts: MatchFacts, now: datetime) -> list[Step]:
    snapshot = facts.snapshot
    if snapshot is None:
        return [blocking_step("reading", "no page has been read well yet")]
    is_live = snapshot.state.get("status") == MatchStatus.LIVE
    is_paused = "break" in snapshot.state
    words = f"checked {format_relative(snapshot.checked_at, now)}, changed {format_relative(snapshot.changed_at, now)}"
    fresh = is_fresh(snapshot.checked_at, now, is_live=is_live, rests=ON_BREAK if is_paused else NOTED)
    return [passing_step("fresh", words) if fresh else blocking_step("fresh", f"stale: {words}")]


def _origin(facts: MatchFacts, field: str, now: datetime) -> list[Step]:
    if facts.snapshot is None:
        return []
    provenance = facts.snapshot.provenance
    if field and field not in provenance:
        msg = f"match {facts.key} has no field {field!r} of known origin; it has {', '.join(sorted(provenance))}"
        raise NotFound(msg)
    shown = [field] if field else sorted(provenance)
    return [
        info_step(
            name, f"from {origin.source}, confidence {origin.confidence:g}, told {format_relative(origin.at, now)}"
        )
        for name in shown
        for origin in [provenance[name]]
    ]


def _conflict(conflict: ConflictView, now: datetime) -> Step:
    return info_step(
        "conflict",
        f"innings {conflict.innings}, {conflict.field}: {conflict.shown_source} {conflict.shown_value}, "
        f"{conflict.other_source} {conflict.other_value}, {format_relative(conflict.found_at, now)}",
    )


def _change(change: LoggedChange, now: datetime) -> Step:
    reason = f": {change.reason}" if change.reason else ""
    return info_step(
        f"change {change.seq}",
        f"{change.kind} by {change.source or 'the lane'}, {format_relative(change.changed_at, now)}{reason}",
    )
