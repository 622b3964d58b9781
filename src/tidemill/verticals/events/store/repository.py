"""The repository of events: upsert by identity, history of every change, and what is no longer seen."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol

import msgspec
from sqlalchemy import BindParameter, Select, bindparam, func, select, text, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.identity import signed_checksum
from tidemill.core.job import Job
from tidemill.core.run import RunStatus
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.store.database.batches import portions
from tidemill.store.database.bulk import change, copy_rows, read_all, write_many
from tidemill.store.database.column_types import to_micros
from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.database.keys import Ids
from tidemill.store.database.many_rows import write_rows
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.store.records.repository import MOST_MISSED, CompleteRun
from tidemill.store.schema import runs
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.tables import events

VERTICAL = "events"

_encode = msgspec.json.Encoder().encode
# Only names of ours are put together here; what pages say is always bound.
_ROW = "e.id, e.source_id, e.identity, e.checksum, e.gone_at"
_SAME = "e.source_id = k.source_id AND e.identity_hash = k.hash"
_KNOWN_SQLITE = text(
    "SELECT " + _ROW + " FROM (SELECT json_extract(value, '$[0]') AS source_id, json_extract(value, '$[1]') AS hash"
    " FROM json_each(:keys)) k JOIN events e ON " + _SAME
)
_KNOWN_POSTGRES = text(
    "SELECT " + _ROW + " FROM unnest(CAST(:sources AS bigint[]), CAST(:hashes AS bigint[])) AS k(source_id, hash)"
    " JOIN events e ON " + _SAME
)


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
            await change(connection, _SEEN_BY_KEY, {"b_now": now, "b_ids": same})
        return tally(harvests, new, [item for item, _ in changed])

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Everything on a page that did not change was seen again; answers how many."""
        hashes = [signed_checksum(identity.encode()) for identity in identities]
        names = {"b_now": now, "b_source": source_id, "b_hashes": hashes}
        return await change(connection, _SEEN_BY_NAME, names)

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> dict[int, int]:
        """Count complete runs against what they did not see; after `patience` of them in a row it is gone.

        Only what is still to come can go missing: an event that is over has left its agenda in the ordinary way.
        """
        asked = {"b_runs": [each.run_id for each in over], "b_now": now, "b_most": MOST_MISSED * len(over)}
        missed = await read_all(connection, _UNSEEN[connection.dialect.name == "sqlite"], asked)
        gone = [row for row in missed if row["missed_runs"] + 1 >= patience]
        for some in portions(missed):  # together, the runs may have missed more than SQLite takes in one statement
            await change(connection, _MISSED, {"b_ids": [row["id"] for row in some]})
        for some in portions(gone):
            await change(connection, _GONE, {"b_ids": [row["id"] for row in some], "b_now": now})
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
        sources = [item.job.source_id for item in items]
        hashes = [item.identity_hash for item in items]
        if connection.dialect.name == "sqlite":
            keys = _encode(list(zip(sources, hashes, strict=True))).decode()
            found = await connection.execute(_KNOWN_SQLITE, {"keys": keys})
        else:
            found = await connection.execute(_KNOWN_POSTGRES, {"sources": sources, "hashes": hashes})
        return {(row["source_id"], row["identity"]): row for row in found.mappings()}

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
        before = {row["id"]: row["record"] for row in await read_all(connection, _BEFORE, {"b_ids": keys})}
        history = []
        for item, row in changed:
            kind = "returned" if row["gone_at"] is not None else "changed"
            changes = differences(before[row["id"]], item.encoded)
            told = HistoryLine(
                record_id=row["id"], kind=kind, run_id=item.job.run_id, page_id=item.page_id, changes=changes
            )
            history.append(told)
        rows = [{"b_id": row["id"], **{f"b_{name}": value for name, value in columns_of(item, now).items()}}
                for item, row in changed]  # fmt: skip
        await write_many(connection, _UPDATE, rows)
        await write_history(connection, self._ids, VERTICAL, history, now)


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


def columns_of(item: EventItem, now: datetime) -> dict[str, Any]:
    """What readers filter and sort by, beside the record itself."""
    event = item.event
    return {
        "event_fingerprint": event.fingerprint,
        "title": event.title,
        "event_date": event.event_date,
        "ends_at": event.ends_at,
        "event_time": event.event_time,
        "venue_name": event.venue_name,
        "category": event.category,
        "latitude": event.latitude,
        "longitude": event.longitude,
        "status": event.status,
        "checksum": item.checksum,
        "record": item.encoded,
        "page_id": item.page_id,
        "last_seen_at": now,
        "updated_at": now,
        "missed_runs": 0,
        "gone_at": None,
    }


async def insert_events(connection: AsyncConnection, new: Sequence[tuple[int, EventItem]], now: datetime) -> None:
    """Insert the new ones, as tuples straight to the driver: the hottest write there is."""
    moment: Callable[[datetime, int], Any] = _micros if connection.dialect.name == "sqlite" else _same
    seen = moment(now, now.fold)
    rows = []
    for key, item in new:
        event = item.event
        starts, ends = event.event_date, event.ends_at
        rows.append((
            key, item.job.source_id, item.identity, item.identity_hash, event.fingerprint, event.title,
            moment(starts, starts.fold), None if ends is None else moment(ends, ends.fold),
            event.event_time, event.venue_name,
            str(event.category),  # a plain string: SQLite asks a member how it wants to be written
            event.latitude, event.longitude, str(event.status),
            item.checksum, item.encoded, item.page_id, seen, seen, seen,
        ))  # fmt: skip
    if isinstance(connection, InlineAsyncConnection):
        connection.driver.defer_to_commit(lambda driver: write_rows(driver, _INSERT_SQLITE, rows))
    else:
        await copy_rows(connection, events, _INSERTED, rows)


@lru_cache(maxsize=4_096)
def _micros(moment: datetime, _fold: int) -> int:
    """Agendas name the same hours again and again. On the night when clocks go back, two hours differ by fold alone."""
    return to_micros(moment)


def _same(moment: datetime, _fold: int) -> datetime:
    return moment


_INSERTED = (
    "id", "source_id", "identity", "identity_hash", "event_fingerprint", "title", "event_date", "ends_at", "event_time",
    "venue_name", "category", "latitude", "longitude", "status", "checksum", "record", "page_id", "first_seen_at",
    "last_seen_at", "updated_at",
)  # fmt: skip
_INSERT_SQLITE = f"INSERT INTO events ({', '.join(_INSERTED)}) VALUES ({', '.join('?' for _ in _INSERTED)})"

_COLUMNS = (
    "event_fingerprint", "title", "event_date", "ends_at", "event_time", "venue_name", "category", "latitude",
    "longitude", "status", "checksum", "record", "page_id", "last_seen_at", "updated_at", "missed_runs",
    "gone_at",
)  # fmt: skip
_UPDATE = (
    update(events)
    .where(events.c.id == bindparam("b_id"))
    .values(times_seen=events.c.times_seen + 1, **{name: bindparam(f"b_{name}") for name in _COLUMNS})
)


_BEFORE = (
    select(events.c.id, events.c.record)
    .where(events.c.id.in_(bindparam("b_ids", expanding=True)))
    .order_by(events.c.id)
    .with_for_update()
)
_SEEN = update(events).values(
    last_seen_at=bindparam("b_now"), times_seen=events.c.times_seen + 1, missed_runs=0, gone_at=None
)
_SEEN_BY_KEY = _SEEN.where(events.c.id.in_(bindparam("b_ids", expanding=True)))
_SEEN_BY_NAME = _SEEN.where(
    events.c.identity_hash.in_(bindparam("b_hashes", expanding=True)), events.c.source_id == bindparam("b_source")
)
_ITS_UNSEEN = (
    select(events.c.id, events.c.missed_runs)
    .where(events.c.source_id == runs.c.source_id, events.c.last_seen_at < runs.c.started_at)
    .where(events.c.gone_at.is_(None), func.coalesce(events.c.event_date, bindparam("b_now")) > bindparam("b_now"))
    .order_by(events.c.id)
)
"""The date is hidden from the planner: without statistics, PostgreSQL reads every coming event through its index."""
_OVER: BindParameter[Any] = bindparam("b_runs", expanding=True)


def _unseen(*, on_sqlite: bool) -> Select[Any]:
    """What these runs did not see, each of its own source; PostgreSQL is made to look up one source after the other.

    Left to itself, and without statistics, it reads all events of all sources instead.
    """
    if on_sqlite:
        joined = _ITS_UNSEEN.add_columns(runs.c.id.label("run_id")).where(runs.c.id.in_(_OVER))
        return joined.limit(bindparam("b_most"))
    its = _ITS_UNSEEN.correlate(runs).limit(MOST_MISSED).lateral("its")
    chosen = select(its.c.id, its.c.missed_runs, runs.c.id.label("run_id")).select_from(runs.join(its, true()))
    return chosen.where(runs.c.id.in_(_OVER)).order_by(its.c.id).limit(bindparam("b_most"))


_UNSEEN = {on_sqlite: _unseen(on_sqlite=on_sqlite) for on_sqlite in (True, False)}
_IDS: BindParameter[Any] = bindparam("b_ids", expanding=True)
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
    return {name: [old.get(name), value] for name, value in new.items() if old.get(name) != value}


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
