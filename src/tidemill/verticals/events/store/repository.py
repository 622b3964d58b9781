"""The repository of events: upsert by identity, history of every change, and what is no longer seen."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol

import msgspec
from sqlalchemy import BindParameter, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.identity import signed_checksum
from tidemill.core.job import Job
from tidemill.core.run import RunStatus
from tidemill.core.views.past import field_changes
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.store.database.batches import portions
from tidemill.store.database.keys import Ids
from tidemill.store.database.postgres import PostgresConnection
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.store.records.repository import MOST_MISSED, CompleteRun
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.repository_sql import (
    EVENTS_BEFORE,
    INSERT_EVENTS,
    KNOWN_EVENTS,
    NAMES,
    SEE_EVENTS,
    SEE_EVENTS_OF_SOURCE,
    SEEN_AGAIN,
    SEEN_FIRST,
    TOLD,
    UNSEEN_EVENTS,
    UPDATE_EVENTS,
)
from tidemill.verticals.events.store.tables import events

VERTICAL = "events"

_encode = msgspec.json.Encoder().encode
_names_of, _told_of = attrgetter(*NAMES.values()), attrgetter(*TOLD.values())


class EnrichesEvents(Protocol):
    """Puts what enrichment knows into events on their way to the repository, and notes what is still to be asked."""

    async def enriched(
        self, connection: AsyncConnection, bare: Sequence[tuple[int, Job, Event]], now: datetime
    ) -> list[Event]:
        """The events in their order, with what is known put in."""
        ...


class EventRepository:
    """Where accepted events end up."""

    vertical = VERTICAL

    def __init__(self, ids: Ids, enrichment: "EnrichesEvents | None" = None) -> None:
        """Take keys from the process's supply; `enrichment` puts in what enrichment knows, where there is any."""
        self._ids = ids
        self._enrichment = enrichment

    async def put(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Insert the new, update the changed (with history), and mark the rest as seen; one set per case."""
        fresh = unique(harvests)
        known = await self._known(connection, fresh)
        new, changed, same = sort_out(fresh, known)
        if new:
            keyed = list(zip(self._ids.take_many(len(new)), new, strict=True))
            await insert_events(connection, await self._dressed(connection, keyed, now), now)
        if changed:
            dressed = await self._dressed(connection, [(row["id"], item) for item, row in changed], now)
            rows = [row for _, row in changed]
            await self._update(connection, [(item, row) for (_, item), row in zip(dressed, rows, strict=True)], now)
        if same:
            await SEE_EVENTS.execute(connection, now=now, ids=same)
        return tally(harvests, new, [item for item, _ in changed])

    async def stored(self, connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
        """The records of a source under these identities, as JSON."""
        return await stored_events(connection, source_id, identities)

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Everything on a page that did not change was seen again; answers how many."""
        hashes = [signed_checksum(identity.encode()) for identity in identities]
        return await SEE_EVENTS_OF_SOURCE.execute(connection, now=now, source_id=source_id, hashes=hashes)

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> dict[int, int]:
        """Count complete runs against what they did not see; after `patience` of them in a row it is gone.

        Only what is still to come can go missing: an event that is over has left its agenda in the ordinary way.
        """
        run_ids = [each.run_id for each in over]
        missed = await UNSEEN_EVENTS.fetch(connection, runs=run_ids, now=now, each=MOST_MISSED)
        gone = [row for row in missed if row["missed_runs"] + 1 >= patience]
        for some in portions(missed):  # together, the runs may have missed more than SQLite takes in one statement
            await connection.execute(_MISSED, {"b_ids": [row["id"] for row in some]})
        for some in portions(gone):
            await connection.execute(_GONE, {"b_ids": [row["id"] for row in some], "b_now": now})
            lines = [HistoryLine(record_id=row["id"], kind="gone", run_id=row["run_id"]) for row in some]
            await write_history(connection, self._ids, VERTICAL, lines, now)
        return Counter(row["run_id"] for row in gone)

    async def close_run(self, connection: AsyncConnection, scope: str, status: RunStatus, now: datetime) -> None:
        """Nothing but its records hangs on a run's end."""

    async def _known(self, connection: AsyncConnection, items: Sequence["EventItem"]) -> dict[tuple[int, str], Any]:
        """The rows there are already, by one index lookup per identity.

        A row that only shares the hash of an identity is another event: putting ours beside it is refused by the index,
        and the page becomes a dead letter. Among a million events of a source that is one chance in thirty million.
        """
        keys = [{"source_id": item.job.source_id, "identity_hash": item.identity_hash} for item in items]
        return {(row["source_id"], row["identity"]): row for row in await KNOWN_EVENTS.fetch(connection, keys)}

    async def _dressed(
        self, connection: AsyncConnection, keyed: list[tuple[int, "EventItem"]], now: datetime
    ) -> list[tuple[int, "EventItem"]]:
        """The items with what enrichment knows put in; their checksums stay those of what rules alone had made.

        So a page that is read again is compared with what was read before, and an answer is neither lost nor news.
        """
        if self._enrichment is None:
            return keyed
        events_now = await self._enrichment.enriched(
            connection, [(key, item.job, item.event) for key, item in keyed], now
        )
        return [
            (key, item if event is item.event else msgspec.structs.replace(item, event=event, encoded=_encode(event)))
            for (key, item), event in zip(keyed, events_now, strict=True)
        ]

    async def _update(
        self, connection: AsyncConnection, changed: Sequence[tuple["EventItem", Any]], now: datetime
    ) -> None:
        keys = sorted(row["id"] for _, row in changed)
        before = {row["id"]: row["record"] for row in await EVENTS_BEFORE.fetch(connection, ids=keys)}
        history = []
        for item, row in changed:
            kind = "returned" if row["gone_at"] is not None else "changed"
            changes = differences(before[row["id"]], item.encoded)
            told = HistoryLine(
                record_id=row["id"], kind=kind, run_id=item.job.run_id, page_id=item.page_id, changes=changes
            )
            history.append(told)
        rows = [
            {"id": row["id"], **dict(zip(TOLD, _told_of(item), strict=True)), **dict.fromkeys(SEEN_AGAIN, now)}
            for item, row in changed
        ]
        await UPDATE_EVENTS.write(connection, rows)
        await write_history(connection, self._ids, VERTICAL, history, now)


async def stored_events(connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
    """The records of a source's events, as JSON."""
    hashes = [signed_checksum(identity.encode()) for identity in identities]
    found = (await connection.execute(_STORED, {"b_source": source_id, "b_hashes": hashes})).all()
    return {row.identity: bytes(row.record) for row in found}


class EventItem(msgspec.Struct, frozen=True, eq=False):
    """An event on its way to the repository, encoded once."""

    job: Job
    page_id: int
    identity: str
    identity_hash: int
    event: Event
    encoded: bytes
    checksum: int


def unique(harvests: Sequence[tuple[Job, AcceptedRecords]]) -> list[EventItem]:
    """Each identity of a source once, however many pages of the batch show it."""
    seen: dict[int, set[str]] = {}
    items = []
    for job, harvest in harvests:
        page_id, known = harvest.judged.page.id, seen.setdefault(job.source_id, set())
        for accepted in harvest.records:
            identity, encoded = accepted.identity, accepted.encoded
            if identity not in known:
                known.add(identity)
                named, checksum = signed_checksum(identity.encode()), signed_checksum(encoded)
                items.append(EventItem(job, page_id, identity, named, accepted.record, encoded, checksum))
    return items


async def insert_events(connection: AsyncConnection, new: Sequence[tuple[int, EventItem]], now: datetime) -> None:
    """Insert the new ones, as tuples straight to the driver: the hottest write there is."""
    seen = (now,) * len(SEEN_FIRST)
    rows = [(key, *_names_of(item), *_told_of(item), *seen) for key, item in new]
    if isinstance(connection, PostgresConnection):
        await connection.copy(events.name, tuple(INSERT_EVENTS.columns), rows)
    else:
        INSERT_EVENTS.write_values_at_commit(connection, rows)


_IDS: BindParameter[Any] = bindparam("b_ids", expanding=True)
_STORED = select(events.c.identity, events.c.record).where(
    events.c.source_id == bindparam("b_source"), events.c.identity_hash.in_(bindparam("b_hashes", expanding=True))
)
_MISSED = update(events).where(events.c.id.in_(_IDS)).values(missed_runs=events.c.missed_runs + 1)
_GONE = update(events).where(events.c.id.in_(_IDS)).values(gone_at=bindparam("b_now"), updated_at=bindparam("b_now"))


def sort_out(
    fresh: Sequence[EventItem], known: dict[tuple[int, str], Any]
) -> tuple[list[EventItem], list[tuple[EventItem, Any]], list[int]]:
    """The new ones, the changed ones with their rows (what was gone and is back has changed), and the rest's keys."""
    if not known:
        return list(fresh), [], []
    new: list[EventItem] = []
    changed: list[tuple[EventItem, Any]] = []
    same: list[int] = []
    for item in fresh:
        row = known.get((item.job.source_id, item.identity))
        if row is None:
            new.append(item)
        elif row["checksum"] != item.checksum or row["gone_at"] is not None:
            changed.append((item, row))
        else:
            same.append(row["id"])
    return new, changed, same


def differences(before: bytes, after: bytes) -> dict[str, Any]:
    """Field by field, what it was and what it is."""
    old, new = msgspec.json.decode(before), msgspec.json.decode(after)
    return field_changes(old, new)


def tally(
    harvests: Sequence[tuple[Job, AcceptedRecords]], new: Sequence[EventItem], changed: Sequence[EventItem]
) -> dict[int, WriteCounts]:
    """The counts per job; an identity that another page of the batch brought too counts as unchanged here."""
    inserted, updated = Counter(map(_job_id, new)), Counter(map(_job_id, changed))
    return {
        job.id: WriteCounts(
            inserted[job.id], updated[job.id], len(harvest.records) - inserted[job.id] - updated[job.id]
        )
        for job, harvest in harvests
    }


_job_id = attrgetter("job.id")
