"""What of matches can be exported: each with its newest state."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tidemill.core.snapshots.changes import ThingSnapshot
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportRow, columns
from tidemill.store.snapshots.reads import SnapshotReads

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
    )  # fmt: skip


def _row(snapshot: ThingSnapshot) -> ExportRow:
    state: dict[str, Any] = snapshot.state
    told = {name: _text(state.get(name)) for name in _TOLD}
    key = snapshot.thing.key
    own = {"key": key, "status": snapshot.labels.status, "seq": snapshot.seq, "source": snapshot.source}
    moments = {"changed_at": snapshot.changed_at, "checked_at": snapshot.checked_at}
    return ExportRow(key, {**told, **own, **moments, "state": state}, snapshot)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
