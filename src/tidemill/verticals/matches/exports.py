"""What of matches can be exported: each with its newest state."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.snapshots.changes import ThingSnapshot
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportRow, columns
from tidemill.store.snapshots.reads import PastState, SnapshotReads

MATCHES_AT_ONCE = 50
"""Matches whose logs are gone through together: each is made anew from its first change."""
_TOLD = ("title", "venue", "series", "match_type", "start_time")


class MatchExportFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which matches."""

    status: str | None = None
    series: str | None = None


def match_dataset(snapshots: SnapshotReads) -> ExportDataset:
    """Return the dataset of matches."""

    async def load(which: MatchExportFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        found = await snapshots.listed(
            "matches", status=which.status, group=which.series, after=after or "", limit=limit
        )
        return [_row(one) for one in found]

    async def load_past(
        which: MatchExportFilter, after: str | None, limit: int, moment: datetime
    ) -> Sequence[ExportRow]:
        found: list[ExportRow] = []
        place: str | None = after or ""
        while place is not None and len(found) < limit:
            known = await snapshots.listed("matches", status=None, group=None, after=place, limit=MATCHES_AT_ONCE)
            past = await snapshots.states_at([each.thing_id for each in known], moment)
            rows = [_past_row(each, past[each.thing_id]) for each in known if each.thing_id in past]
            found += [row for row in rows if _was_wanted(row, which)]
            place = known[-1].thing.key if len(known) == MATCHES_AT_ONCE else None
        return found[:limit]

    text, moment = ColumnKind.TEXT, ColumnKind.MOMENT
    return ExportDataset(
        name="matches",
        about="Matches by key, each with its newest state.",
        columns=columns(
            key=text, title=text, status=text, series=text, match_type=text, venue=text, start_time=text,
            seq=ColumnKind.WHOLE, changed_at=moment, checked_at=moment, source=text, state=ColumnKind.JSON,
        ),
        filters=MatchExportFilter,
        load=load,
        load_past=load_past,
        listed=("key", "title", "status", "series", "seq", "changed_at", "source"),
        key="key",
    )  # fmt: skip


def _row(snapshot: ThingSnapshot) -> ExportRow:
    state: dict[str, Any] = snapshot.state
    told = {name: _text(state.get(name)) for name in _TOLD}
    key = snapshot.thing.key
    own = {"key": key, "status": snapshot.labels.status, "seq": snapshot.seq, "source": snapshot.source}
    moments = {"changed_at": snapshot.changed_at, "checked_at": snapshot.checked_at}
    return ExportRow(key, {**told, **own, **moments, "state": state}, snapshot)


def _past_row(snapshot: ThingSnapshot, past: PastState) -> ExportRow:
    told = {name: _text(past.state.get(name)) for name in _TOLD}
    key = snapshot.thing.key
    own = {"key": key, "status": _text(past.state.get("status")), "seq": past.seq, "source": past.source}
    return ExportRow(key, {**told, **own, "changed_at": past.changed_at, "state": past.state}, past)


def _was_wanted(row: ExportRow, which: MatchExportFilter) -> bool:
    series = row.values["state"].get("metadata", {}).get("series")
    return which.status in {None, row.values["status"]} and which.series in {None, series}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
