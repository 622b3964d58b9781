# ruff: noqa: ARG002 - its methods have the arguments of the ports that they implement
"""A made-up vertical that is watched live: tallies of points, on sites that serve them as small JSON pages.

A list page is `{"tallies": [{"id", "url", "points", "phase"}]}`, a tally's page `{"id", "points", "phase"}`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.failure import Failure
from tidemill.core.live.change import Change, Provenance, Published
from tidemill.core.live.rules import (
    LIVE_ROLE,
    ListedThing,
    ListReading,
    LiveSite,
    Merged,
    Outlook,
    Phase,
    Telling,
    Told,
)
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.policy import LIVE
from tidemill.core.record import Found, RawRecord, Reading, Strategy
from tidemill.core.source import Source
from tidemill.core.verdict import Dropped, Verdict
from tidemill.core.vertical import Context, Vertical

TALLIES = "tallies"


class TallyAdapter:
    """Reads both kinds of page."""

    id = "tallies.json"
    version = "1.0.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        try:
            found = msgspec.json.decode(page.body)
        except msgspec.DecodeError:
            return Fail(Failure.LAYOUT_CHANGED, "not JSON")
        rows = found["tallies"] if context.parameters[LIVE_ROLE] == "list" else [found]
        records = [
            RawRecord(fields=row, strategy=Strategy.DATASET, confidence=1.0, origin=str(at))
            for at, row in enumerate(rows)
        ]
        return Found(records=records, declared_empty=not records)


class TallyMemory(msgspec.Struct, frozen=True):
    """What is remembered of a tally."""

    state: Mapping[str, Any]
    phase: Phase = Phase.IN_PLAY


class TallyRules:
    """Points only ever grow; a lower figure is ignored."""

    row_types: Sequence[type] = ()
    reading_type: type[Any] = dict

    def read_list(self, found: Found, context: Context) -> ListReading | Fail:
        return ListReading(
            [
                ListedThing(
                    source_key=str(row.fields["id"]),
                    url=row.fields["url"],
                    outlook=Outlook(Phase(row.fields.get("phase", "in_play"))),
                    title=f"Tally {row.fields['id']}",
                    hint=str(row.fields.get("points", "")),
                )
                for row in found.records
            ],
            is_complete=not found.truncated,
        )

    def read_thing(self, found: Found, context: Context) -> Any | Fail:
        return dict(found.records[0].fields)

    def begin(self, key: str, published: Published | None, sites: Sequence[LiveSite]) -> TallyMemory:
        return TallyMemory(published.state if published else {})

    def with_sites(self, memory: TallyMemory, sites: Sequence[LiveSite]) -> TallyMemory:
        return memory

    def merge(self, memory: TallyMemory, telling: Telling) -> Merged:
        if not isinstance(telling, Told):
            return Merged(memory=memory)
        said = telling.reading
        phase = Phase(said.get("phase", "in_play"))
        if said["points"] < memory.state.get("points", 0):
            return Merged(memory=memory, ignored="lagging")
        state = {"status": phase.value, "points": said["points"]}
        moved = TallyMemory(state, phase)
        if state == memory.state:
            return Merged(memory=moved)
        origin = {"points": Provenance(telling.site.source, 1.0, telling.at)}
        skipped = max(0, said["points"] - memory.state.get("points", said["points"]) - 1)
        return Merged(memory=moved, change=Change(state=state, provenance=origin, skipped=skipped))

    def outlook(self, memory: TallyMemory) -> Outlook:
        return Outlook(memory.phase)


def judge(_record: RawRecord, _context: Context) -> Verdict:
    return Dropped("LIVE", "tallies are only watched")


TALLY_VERTICAL = Vertical(
    name=TALLIES,
    policy=LIVE,
    adapters={TallyAdapter.id: TallyAdapter()},
    judge=judge,
    record=dict[str, Any],
    live=TallyRules(),
)


class TallyThings:
    """Which tally a site's id means: the one of the same name; those whose id begins with `?` are nobody's."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    async def identify(self, source: Source, listed: Sequence[ListedThing], now: datetime) -> Mapping[str, str]:
        return {each.source_key: each.source_key for each in listed if not each.source_key.startswith("?")}

    async def write(self, connection: AsyncConnection, key: str, rows: Sequence[Any], now: datetime) -> None:
        self.written += rows
