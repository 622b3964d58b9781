"""The gate: whether a change of reading passes by itself, or waits for a person."""

from collections.abc import Iterator, Sequence

import msgspec

from tidemill.core.replay.page_difference import ReplayedState
from tidemill.core.replay.report import BROKEN_SHARE, DayDifference, ReplayReport


class GateThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """How much a change may alter before a person has to look, in percent and percentage points."""

    lost_percent: float = 2.0
    added_percent: float = 10.0
    field_points: float = 5.0
    identity_percent: float = 1.0
    changed_percent: float = 5.0


def reasons_to_hold(report: ReplayReport, allowed: GateThresholds, *, is_first: bool = False) -> list[str]:
    """Return why a change must wait for a person; nothing if it may pass.

    A replay that compared no page says nothing for a change. Only where nothing was ever read (`is_first`) there is
    nothing to lose yet. Pages on which nothing was found then have nothing to lose either, unless they fail now.
    """
    compared, gone = report.pages[ReplayedState.COMPARED], report.pages[ReplayedState.GONE]
    if not compared:
        return [] if is_first else [f"nothing could be compared: {pages_words(report)}"]
    found = [
        f"only {compared} pages could be compared: {pages_words(report)}" if gone > compared else "",
        _over("pages that cannot be read any more", report.failed_now - report.failed_then, compared,
              allowed.lost_percent),
        _over("records added where pages were read before", report.added_beside, report.then, allowed.added_percent),
        *(_records(report, allowed) if report.then else ()),
    ]  # fmt: skip
    return [words for words in found if words]


def proves_nothing(report: ReplayReport) -> bool:
    """Return whether a replay compared no record at all, neither one of then nor one of now."""
    return not report.then and not report.now


def pages_words(report: ReplayReport) -> str:
    """Return what became of the pages of a replay, in words."""
    told = [f"{count} {state.replace('_', ' ')}" for state, count in report.pages.items() if count]
    return ", ".join(told) or "no page is stored"


def _records(report: ReplayReport, allowed: GateThresholds) -> list[str]:
    return [
        _over("records lost", report.lost - report.renamed, report.then, allowed.lost_percent),
        _over("identities changed", report.renamed, report.then, allowed.identity_percent),
        *_fields(report, allowed),
        *_sources(report.days),
        *_flooded(report.days, max(1.0, allowed.added_percent / 100)),
    ]


def _sources(days: Sequence[DayDifference]) -> Iterator[str]:
    """Yield sources that are lost for the most part, however few of all records are theirs."""
    for source, (then, now, _) in _by_source(days).items():
        if now < then * BROKEN_SHARE:
            yield f"source {source}: {now} records, where there were {then}"


def _flooded(days: Sequence[DayDifference], most: float) -> Iterator[str]:
    """Yield sources that gain more than `most` times their records, however few of all records are theirs."""
    for source, (then, _, added) in _by_source(days).items():
        if added > then * most:
            yield f"source {source}: {added} records added, where there were {then}"


def _by_source(days: Sequence[DayDifference]) -> dict[str, tuple[int, int, int]]:
    """Return of each source the records of then, those of now, and those added to pages that were read then."""
    sums: dict[str, tuple[int, int, int]] = {}
    for day in days:
        then, now, added = sums.get(day.source, (0, 0, 0))
        sums[day.source] = (then + day.then, now + day.now, added + day.added_beside)
    return sums


def _over(what: str, count: int, of: int, limit: float) -> str:
    if not of:
        return f"{what}: {count}, where there was none" if count else ""
    percent = 100 * count / of
    return f"{what}: {count} of {of}, {percent:.1f} % where {limit:g} % pass" if percent > limit else ""


def _fields(report: ReplayReport, allowed: GateThresholds) -> list[str]:
    found = []
    both = max(1, report.same + report.changed)
    for name, field in report.fields.items():
        then, now = 100 * field.then / report.then, 100 * field.now / max(1, report.now)
        if report.now and then - now > allowed.field_points:
            found.append(
                f"field {name}: in {now:.1f} % of the records, where it was in {then:.1f} %; "
                f"{allowed.field_points:g} points pass"
            )
        found.append(_over(f"field {name} changed", field.changed, both, allowed.changed_percent))
    return found
