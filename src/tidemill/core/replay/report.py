"""A replay's report: added up page by page, in the order of the pages, in memory that does not grow with them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.replay.page_difference import PageDifference, RecordDifference, ReplayedState

MOST_SAMPLES = 12
"""Samples of each kind that a report shows: added, lost, changed."""
MOST_GROUPS = 400
"""Sources and reasons that a report tells apart; the rest is counted together."""
THE_REST = "(others)"
BROKEN_SHARE = 0.5
"""A day on which a page yields under half of what it usually did counts as broken."""


class ReplayedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a replay: where it comes from, and how its two readings differ."""

    page_id: int
    run_id: int
    source: str
    url: str
    fetched_at: datetime
    state: ReplayedState
    difference: PageDifference | None = None


class FieldDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A field: in how many records it held something then and now, and in how many of both its value changed."""

    then: int = 0
    now: int = 0
    changed: int = 0


class DayDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A day of a source: pages compared, pages that could not be read, records, and how they differ.

    `added_beside` are those of the added records that stand on pages which were read then.
    """

    source: str
    day: str
    pages: int = 0
    failed_then: int = 0
    failed_now: int = 0
    then: int = 0
    now: int = 0
    added: int = 0
    added_beside: int = 0
    lost: int = 0
    changed: int = 0


class ReplaySample(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that differs, and the page that shows it."""

    kind: str
    page_id: int
    url: str
    fetched_at: datetime
    change: RecordDifference


class MovedCertificate(msgspec.Struct, frozen=True, kw_only=True):
    """A run whose certificate would have been another one."""

    run_id: int
    source: str
    then_complete: bool
    now_complete: bool
    doubts: Sequence[str] = ()


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay found, the same for the same pages and the same code.

    `added_beside` are those of the added records that stand on pages which were read then, and are no records under
    another identity: on a page that could not be read before, or held nothing usable, whatever is found is a gain.
    """

    scope: Mapping[str, Any]
    pages: Mapping[str, int]
    then: int
    now: int
    same: int
    added: int
    lost: int
    changed: int
    renamed: int
    pages_differing: int
    failed_then: int
    failed_now: int
    verdicts_then: Mapping[str, int]
    verdicts_now: Mapping[str, int]
    reasons_then: Mapping[str, int]
    reasons_now: Mapping[str, int]
    lost_because: Mapping[str, int]
    confidence_then: float | None
    confidence_now: float | None
    fields: Mapping[str, FieldDifference]
    days: Sequence[DayDifference]
    broke: Mapping[str, str]
    certificates: Sequence[MovedCertificate]
    samples: Sequence[ReplaySample]
    added_beside: int = 0


class ReportTally:
    """Adds pages up, in order."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pages = dict.fromkeys((str(each) for each in ReplayedState if each is not ReplayedState.PENDING), 0)
        self._sums = dict.fromkeys(
            ("then", "now", "same", "added", "added_beside", "lost", "changed", "renamed", "differing", "failed_then",
             "failed_now"), 0
        )  # fmt: skip
        self._verdicts = [[0, 0, 0], [0, 0, 0]]
        self._confidence = [0.0, 0.0]
        self._reasons: dict[str, dict[str, int]] = {"then": {}, "now": {}, "lost": {}}
        self._fields: dict[str, list[int]] = {}
        self._days: dict[tuple[str, str], dict[str, int]] = {}
        self._sources: set[str] = set()
        self._samples: dict[str, list[ReplaySample]] = {"lost": [], "changed": [], "added": []}

    def add(self, page: ReplayedPage) -> None:
        """Count a page."""
        self._pages[page.state] += 1
        found = page.difference
        if found is None:
            return
        kinds = {"added": 0, "lost": 0, "changed": 0, "renamed": 0}
        for change in found.changes:
            kind = kind_of(change)
            kinds[kind] += 1
            kinds["renamed"] += bool(change.became)
            for name in change.names:
                self._field(name)[2] += 1
            if change.reason:
                _count(self._reasons["lost"], change.reason, 1)
            self._sample(kind, page, change)
        then, now = found.then_verdicts[0], found.now_verdicts[0]
        kinds["added_beside"] = 0 if found.then_failure or found.then_unusable else kinds["added"] - kinds["renamed"]
        failed = {"failed_then": int(bool(found.then_failure)), "failed_now": int(bool(found.now_failure))}
        for name, count in {**kinds, **failed, "then": then, "now": now, "same": found.same}.items():
            self._sums[name] += count
        self._sums["differing"] += bool(found.changes) or found.then_failure != found.now_failure
        self._add_details(found)
        del kinds["renamed"]
        self._add_day(page, {**kinds, **failed, "then": then, "now": now, "pages": 1})

    def report(self, scope: Mapping[str, Any], certificates: Sequence[MovedCertificate] = ()) -> ReplayReport:
        """Return what was added up."""
        sums = dict(self._sums)
        days = [DayDifference(source=key[0], day=key[1], **counts) for key, counts in sorted(self._days.items())]
        return ReplayReport(
            scope=scope,
            pages=self._pages,
            pages_differing=sums.pop("differing"),
            **sums,
            verdicts_then=_verdicts(self._verdicts[0]),
            verdicts_now=_verdicts(self._verdicts[1]),
            reasons_then=_sorted(self._reasons["then"]),
            reasons_now=_sorted(self._reasons["now"]),
            lost_because=_sorted(self._reasons["lost"]),
            confidence_then=_mean(self._confidence[0], sums["then"]),
            confidence_now=_mean(self._confidence[1], sums["now"]),
            fields={
                name: FieldDifference(then=counts[0], now=counts[1], changed=counts[2])
                for name, counts in sorted(self._fields.items())
            },
            days=days,
            broke=broken_days(days),
            certificates=certificates,
            samples=[one for kind in self._samples.values() for one in kind],
        )

    def _field(self, name: str) -> list[int]:
        return self._fields.setdefault(name, [0, 0, 0])

    def _sample(self, kind: str, page: ReplayedPage, change: RecordDifference) -> None:
        if len(self._samples[kind]) < MOST_SAMPLES:
            self._samples[kind].append(
                ReplaySample(kind=kind, page_id=page.page_id, url=page.url, fetched_at=page.fetched_at, change=change)
            )

    def _add_details(self, found: PageDifference) -> None:
        for column, counts in enumerate((found.then_fields, found.now_fields)):
            for name, count in counts.items():
                self._field(name)[column] += count
        for column, verdicts in enumerate((found.then_verdicts, found.now_verdicts)):
            for place, count in enumerate(verdicts):
                self._verdicts[column][place] += count
        for side, reasons in (("then", found.then_reasons), ("now", found.now_reasons)):
            for reason, count in reasons.items():
                _count(self._reasons[side], reason, count)
        self._confidence[0] += found.then_confidence
        self._confidence[1] += found.now_confidence

    def _add_day(self, page: ReplayedPage, counts: Mapping[str, int]) -> None:
        is_known = page.source in self._sources or len(self._sources) < MOST_GROUPS
        source = page.source if is_known else THE_REST
        self._sources.add(source)
        day = self._days.setdefault((source, page.fetched_at.date().isoformat()), {})
        for name, count in counts.items():
            day[name] = day.get(name, 0) + count


def kind_of(change: RecordDifference) -> str:
    """Return whether a record was added, lost or changed."""
    if change.before is None:
        return "added"
    return "lost" if change.after is None else "changed"


def broken_days(days: Iterable[DayDifference]) -> dict[str, str]:
    """Return by source the day from which on the reading of now yields under half of what it did before."""
    by_source: dict[str, list[DayDifference]] = {}
    for day in days:
        by_source.setdefault(day.source, []).append(day)
    found = {source: _broken_since(each) for source, each in by_source.items()}
    return {source: day for source, day in found.items() if day}


def _broken_since(days: Sequence[DayDifference]) -> str:
    """Return the first of the last days that all yield too little; '' if the last one does not, or none was good."""
    best = max((_yield_of(day) for day in days), default=0.0)
    since = ""
    for day in reversed(days):
        if best == 0 or _yield_of(day) >= best * BROKEN_SHARE:
            break
        since = day.day
    return since


def _yield_of(day: DayDifference) -> float:
    return day.now / max(1, day.pages)


def _count(counts: dict[str, int], name: str, count: int) -> None:
    key = name if name in counts or len(counts) < MOST_GROUPS else THE_REST
    counts[key] = counts.get(key, 0) + count


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _verdicts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(("accepted", "dropped", "quarantined"), counts, strict=True))


def _mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count and total else None


encode_report = msgspec.json.Encoder(order="deterministic").encode
"""A report as the bytes that are kept and compared."""
