"""What became of cards, line by line, for programs that follow along: made beside the cards, written with them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tidemill.store.records.changes import ChangeLine
from tidemill.verticals.events.store.card_writes import PublishedCard

CHANGE_KINDS = {
    "new": "An event is shown for the first time.",
    "changed": "Something about an event is told differently now.",
    "cancelled": "Every source that tells of an event says that it is cancelled.",
    "merged": "An event turned out to be another one, which `changes` names.",
    "gone": "No source shows a coming event any more.",
}
_UNSTEADY = frozenset({"confidence", "normalization_method", "fingerprint", "source_id", "source_name"})
"""Fields that tell of how an event was read, not of the event."""

_decode = msgspec.json.decode


def card_lines(
    written: Sequence[PublishedCard], stale: Collection[int], before: Mapping[int, bytes], rows: Iterable[Any]
) -> list[ChangeLine]:
    """Return what becomes of cards: `before` has those that are there already, `rows` the events with their cards."""
    lines = [line for each in written if (line := _line(each, before.get(each.id))) is not None]
    now_on = {link.event_id: card.id for card in written for link in card.links}
    moved = {row["card_id"]: now_on[row["id"]] for row in rows if row["id"] in now_on}
    for key in sorted(key for key in stale if key in before):
        event = _decode(before[key])["event"]
        into = moved.get(key)
        changes = {} if into is None else {"merged_into": [None, into]}
        kind = "gone" if into is None else "merged"
        lines.append(
            ChangeLine(record_id=key, kind=kind, title=event["title"], group=event["category"], changes=changes)
        )
    return lines


def _line(card: PublishedCard, before: bytes | None) -> ChangeLine | None:
    title, category = card.row["title"], card.row["category"]
    if before is None:
        return ChangeLine(record_id=card.id, kind="new", title=title, group=category)
    old, new = _decode(before), _decode(card.row["card"])
    changes = _differences(old["event"], new["event"])
    if old["sources"] != new["sources"]:
        changes["sources"] = [old["sources"], new["sources"]]
    if not changes:
        return None
    is_cancelled = new["event"]["status"] == "cancelled" and "status" in changes
    kind = "cancelled" if is_cancelled else "changed"
    return ChangeLine(record_id=card.id, kind=kind, title=title, group=category, changes=changes)


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: [old.get(name), value] for name, value in new.items() if old.get(name) != value and name not in _UNSTEADY
    }
