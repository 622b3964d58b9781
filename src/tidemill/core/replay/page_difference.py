"""What two readings of one page differ in: what was kept then, and what would be kept now."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

NAMING_FIELDS = ("detail_url", "source_url", "url", "product_url", "address", "title", "name")
"""Fields that tell which thing a record is about when its identity differs, the surest first."""
CONFIDENCE = "confidence"


class ReplayedState(StrEnum):
    """What became of a page in a replay.

    `NOT_KEPT` pages were read then, but what came of it is older than its retention; `UNCHANGED` ones were not read
    then, because they equal an earlier page, which is in the replay itself.
    """

    PENDING = "pending"
    COMPARED = "compared"
    GONE = "gone"
    NOT_KEPT = "not_kept"
    UNCHANGED = "unchanged"


class ReadRecord(msgspec.Struct, frozen=True):
    """An accepted record: its key within its source, its fields, and the bytes that it was decoded from."""

    identity: str
    fields: Mapping[str, Any]
    encoded: bytes = b""


class ComparedReading(msgspec.Struct, frozen=True, kw_only=True):
    """All that came of reading a page; `failure` is '' if it was read.

    `refusals` says why records were not accepted: the reason, and the words that name the record.
    """

    accepted: Sequence[ReadRecord] = ()
    refusals: Sequence[tuple[str, str]] = ()
    dropped: int = 0
    quarantined: int = 0
    failure: str = ""
    detail: str = ""
    truncated: bool = False
    unusable: bool = False


class RecordDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that differs: only `after` was added, only `before` was lost, both were changed in `names`.

    `reason` says why a lost record is not accepted any more, and `became` is the identity that it has now.
    """

    identity: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    names: Sequence[str] = ()
    reason: str = ""
    became: str = ""
    origin: str = ""
    block: str = ""


class PageDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The difference between two readings of a page, with all that a report adds up."""

    same: int = 0
    changes: Sequence[RecordDifference] = ()
    then_failure: str = ""
    now_failure: str = ""
    now_detail: str = ""
    then_fields: Mapping[str, int] = {}
    now_fields: Mapping[str, int] = {}
    then_verdicts: Sequence[int] = (0, 0, 0)
    now_verdicts: Sequence[int] = (0, 0, 0)
    then_reasons: Mapping[str, int] = {}
    now_reasons: Mapping[str, int] = {}
    then_confidence: float = 0.0
    now_confidence: float = 0.0
    then_truncated: bool = False
    now_truncated: bool = False
    then_unusable: bool = False
    now_unusable: bool = False


def page_difference(then: ComparedReading, now: ComparedReading, provenance: Collection[str] = ()) -> PageDifference:
    """Return what differs, fields that only say how it was read left out; in the order of the page."""
    before, after = _by_identity(then.accepted), _by_identity(now.accepted)
    changed = [_changed(before[key], one, provenance) for key, one in after.items() if key in before]
    lost = [one for key, one in before.items() if key not in after]
    added = [one for key, one in after.items() if key not in before]
    renamed = _renamed(lost, added)
    refused = dict(_named_refusals(now.refusals))
    changes = [one for one in changed if one is not None]
    same = len(changed) - len(changes)
    changes += [
        RecordDifference(
            identity=one.identity,
            before=one.fields,
            reason="" if one.identity in renamed else _why_lost(one, refused, now.failure),
            became=renamed.get(one.identity, ""),
        )
        for one in lost
    ]
    changes += [RecordDifference(identity=one.identity, after=one.fields) for one in added]
    then_fields, then_confidence = filled_fields(before.values()), _confidence(before.values())
    is_alike = not changes and all(one.fields is before[key].fields for key, one in after.items())
    return PageDifference(
        same=same,
        changes=changes,
        then_failure=then.failure,
        now_failure=now.failure,
        now_detail=now.detail if now.failure else "",
        then_fields=then_fields,
        now_fields=then_fields if is_alike else filled_fields(after.values()),
        then_verdicts=(len(before), then.dropped, then.quarantined),
        now_verdicts=(len(after), now.dropped, now.quarantined),
        then_reasons=_counted(reason for reason, _ in then.refusals),
        now_reasons=_counted(reason for reason, _ in now.refusals),
        then_confidence=then_confidence,
        now_confidence=then_confidence if is_alike else _confidence(after.values()),
        then_truncated=then.truncated,
        now_truncated=now.truncated,
        then_unusable=then.unusable,
        now_unusable=now.unusable,
    )


def filled_fields(records: Iterable[ReadRecord]) -> dict[str, int]:
    """Count in how many records each field holds something."""
    counts: dict[str, int] = {}
    for one in records:
        for name, value in one.fields.items():
            if value or value == 0:  # nothing else that is false tells something
                counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def naming_words(fields: Mapping[str, Any]) -> str:
    """Return what names the thing that a record is about; '' if nothing does."""
    return next((value for name in NAMING_FIELDS if isinstance(value := fields.get(name), str) and value), "")


def _by_identity(records: Sequence[ReadRecord]) -> dict[str, ReadRecord]:
    """Return each identity once, the first one, as records are stored."""
    found: dict[str, ReadRecord] = {}
    for one in records:
        found.setdefault(one.identity, one)
    return found


def _changed(before: ReadRecord, after: ReadRecord, provenance: Collection[str]) -> RecordDifference | None:
    if before.fields is after.fields:
        return None
    old, new = before.fields, after.fields
    names = [name for name in {**old, **new} if old.get(name) != new.get(name) and name not in provenance]
    if not names:
        return None
    return RecordDifference(
        identity=after.identity,
        before=before.fields,
        after=after.fields,
        names=tuple(sorted(names)),
    )


def _renamed(lost: Sequence[ReadRecord], added: Sequence[ReadRecord]) -> dict[str, str]:
    """Return lost identities whose thing has another identity now: the same words name both."""
    free: dict[str, list[str]] = defaultdict(list)
    for one in added:
        if words := naming_words(one.fields):
            free[words].append(one.identity)
    pairs = {}
    for one in lost:
        if candidates := free.get(naming_words(one.fields)):
            pairs[one.identity] = candidates.pop(0)
    return pairs


def _named_refusals(refusals: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return ((words, reason) for reason, words in reversed(refusals) if words)


def _why_lost(record: ReadRecord, refused: Mapping[str, str], failure: str) -> str:
    if failure:
        return failure
    words = (record.fields.get(name) for name in NAMING_FIELDS)
    return next((refused[one] for one in words if isinstance(one, str) and one in refused), "not found on the page")


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _confidence(records: Iterable[ReadRecord]) -> float:
    """Return the sum of the records' confidence, where they have one."""
    given = (one.fields.get(CONFIDENCE) for one in records)
    return round(sum(float(each) for each in given if isinstance(each, int | float)), 6)
