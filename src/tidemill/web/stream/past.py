"""Lists of things as they were at a moment, each made from its log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from tidemill.core.snapshots.changes import ThingLabels, ThingSnapshot
from tidemill.store.snapshots.reads import PastState
from tidemill.web.stream.queries import ListQuery
from tidemill.web.stream.resource import StreamedResource

AT_ONCE = 50
"""Things whose logs are gone through together."""


class PastReads(Protocol):
    """Reads which things there are, and what each was at a moment."""

    async def listed(
        self, vertical: str, *, status: str | None, group: str | None, after: str, limit: int
    ) -> list[ThingSnapshot]:
        """Return the newest snapshots by key, after a key."""
        ...

    async def states_at(self, things: Sequence[int], moment: datetime) -> dict[int, PastState]:
        """Return the state that each thing had at a moment; those without one are left out."""
        ...


async def past_summaries(
    reads: PastReads, resource: StreamedResource, query: ListQuery, moment: datetime
) -> tuple[list[dict[str, Any]], str | None]:
    """Return things in short as lists showed them at a moment, and the key after which the list goes on."""
    found: list[dict[str, Any]] = []
    place: str | None = query.after
    while place is not None and len(found) <= query.limit:
        known = await reads.listed(resource.vertical, status=None, group=None, after=place, limit=AT_ONCE)
        past = await reads.states_at([each.thing_id for each in known], moment)
        shown = [_summary(resource, each.thing.key, past[each.thing_id]) for each in known if each.thing_id in past]
        found += [one for one in shown if _is_wanted(resource, query, one)]
        place = known[-1].thing.key if len(known) == AT_ONCE else None
    following = str(found[query.limit - 1]["id"]) if len(found) > query.limit else None
    return found[: query.limit], following


def _summary(resource: StreamedResource, key: str, past: PastState) -> dict[str, Any]:
    state: Mapping[str, Any] = past.state
    labels = ThingLabels(str(state.get("status", "")), "") if resource.labels is None else resource.labels(state)
    shown: dict[str, Any] = {"id": key, "status": labels.status, resource.group: labels.group}
    shown |= {field: state[field] for field in resource.summary_fields if field in state}
    return shown | {
        "seq": past.seq, "checked_at": None, "changed_at": past.changed_at, "data_age_seconds": None, "freshness": "",
    }  # fmt: skip


def _is_wanted(resource: StreamedResource, query: ListQuery, shown: Mapping[str, Any]) -> bool:
    return query.status in {None, shown["status"]} and query.group in {None, shown[resource.group]}
