"""The list of sources: filtered, ordered and paged by the database, in six statements whatever their number."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Float, cast, func, literal, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.source_list import (
    DAYS_SHOWN,
    SourceLine,
    SourceListFilter,
    SourceOrder,
    SourcePage,
    SourceState,
)
from tidemill.store.database.column_types import EPOCH, Timestamp
from tidemill.store.schema import breakers, runs, sources, targets
from tidemill.store.views.sources import Approvals, list_sources

DAY_MICROS = 86_400_000_000
DAY_SECONDS = 86_400
MOST_AT_ONCE = 10_000
"""So many sources an action on all that a filter means may be for."""

_TRIPPED = select(breakers.c.source_id).where(breakers.c.state != "CLOSED")
_WITH_BROKEN = select(targets.c.source_id).where(targets.c.status == "BROKEN")
_STATES: dict[SourceState, ColumnElement[bool]] = {
    SourceState.ON: sources.c.enabled & ~sources.c.auto_disabled,
    SourceState.OFF: ~sources.c.enabled | sources.c.auto_disabled,
    SourceState.DRIFTED: sources.c.auto_disabled,
    SourceState.FAILING: sources.c.enabled & (sources.c.consecutive_failures > 0),
    SourceState.BREAKER: sources.c.id.in_(_TRIPPED),
    SourceState.SILENT: sources.c.enabled & sources.c.last_scraped_at.is_not(None) & (sources.c.historical_count == 0),
    SourceState.BROKEN: sources.c.id.in_(_WITH_BROKEN),
}
_ORDERS: dict[SourceOrder, tuple[ColumnElement[Any], bool]] = {
    SourceOrder.NAME: (sources.c.name, False),
    SourceOrder.TROUBLE: (sources.c.consecutive_failures, True),
    SourceOrder.SUCCESS: (func.coalesce(sources.c.last_success_at, literal(EPOCH, Timestamp())), False),
    SourceOrder.RECORDS: (sources.c.historical_count, True),
    SourceOrder.NEWEST: (sources.c.created_at, True),
}


class PlaceGone(Exception):
    """The source after which the list was to go on is not there any more."""


async def source_page(
    connection: AsyncConnection,
    which: SourceListFilter,
    now: datetime,
    after: int | None,
    limit: int,
    approvals: Approvals | None,
) -> SourcePage:
    """Return a page of the list; raise `PlaceGone` when `after` is no source."""
    wanted = list(_conditions(which))
    total = (await connection.execute(select(func.count()).select_from(sources).where(*wanted))).scalar_one()
    keys = await _keys(connection, which.order, wanted, after, limit + 1)
    shown = keys[:limit]
    views = {view.id: view for view in await list_sources(connection, now, keys=shown, approvals=approvals)}
    daily, due, fresh = await _around(connection, shown, now)
    lines = [
        SourceLine(view=views[key], daily=daily[key], next_due_at=due.get(key), last_new_at=fresh.get(key))
        for key in shown
        if key in views
    ]
    following = shown[-1] if len(keys) > limit else None
    return SourcePage(lines=lines, total=total, next=following, tags=await every_tag(connection))


async def matching_sources(connection: AsyncConnection, which: SourceListFilter) -> list[int]:
    """Return the keys of all sources that a filter means, up to `MOST_AT_ONCE`."""
    query = select(sources.c.id).where(*_conditions(which)).order_by(sources.c.name).limit(MOST_AT_ONCE)
    return list((await connection.execute(query)).scalars())


async def every_tag(connection: AsyncConnection) -> list[tuple[str, int]]:
    """Return the tags in use and how many sources have each."""
    query = select(sources.c.tags, func.count()).where(sources.c.tags != "").group_by(sources.c.tags)
    counts: Counter[str] = Counter()
    for text, count in await connection.execute(query):
        counts.update(dict.fromkeys(text.split(), count))
    return sorted(counts.items())


def _conditions(which: SourceListFilter) -> Iterator[ColumnElement[bool]]:
    if which.text:
        columns = (sources.c.name, sources.c.base_url, sources.c.city)
        yield or_(*(column.icontains(which.text, autoescape=True) for column in columns))
    if which.vertical:
        yield sources.c.vertical == which.vertical
    if which.adapter:
        yield sources.c.adapter_id == which.adapter
    if which.state:
        yield _STATES[which.state]
    if which.tag:
        yield sources.c.tags.contains(f" {which.tag} ", autoescape=True)


async def _keys(
    connection: AsyncConnection, order: SourceOrder, wanted: Sequence[Any], after: int | None, limit: int
) -> list[int]:
    column, is_falling = _ORDERS[order]
    query = select(sources.c.id).where(*wanted).limit(limit)
    if after is not None:
        place = (await connection.execute(select(column).where(sources.c.id == after))).first()
        if place is None:
            raise PlaceGone
        here, there = tuple_(column, sources.c.id), tuple_(literal(place[0], column.type), literal(after))
        query = query.where(here < there if is_falling else here > there)
    falling = (column.desc(), sources.c.id.desc())
    query = query.order_by(*(falling if is_falling else (column, sources.c.id)))
    return list((await connection.execute(query)).scalars())


async def _around(
    connection: AsyncConnection, keys: Sequence[int], now: datetime
) -> tuple[dict[int, list[int]], dict[int, datetime], dict[int, datetime]]:
    """Return what the days yielded, when the next target is due, and when something was last new; for these sources."""
    daily = await records_by_day(connection, keys, now)
    due = (
        select(targets.c.source_id, func.min(targets.c.next_due_at))
        .where(targets.c.source_id.in_(keys), targets.c.enabled)
        .group_by(targets.c.source_id)
    )
    fresh = (
        select(runs.c.source_id, func.max(runs.c.started_at))
        .where(runs.c.source_id.in_(keys), runs.c.records_inserted > 0)
        .group_by(runs.c.source_id)
    )
    found = [{row[0]: row[1] for row in await connection.execute(query)} for query in (due, fresh)]
    return daily, found[0], found[1]


async def records_by_day(
    connection: AsyncConnection, keys: Sequence[int], now: datetime, days: int = DAYS_SHOWN
) -> dict[int, list[int]]:
    """Return what the runs of each source yielded on each of the last days, today last."""
    first = datetime.combine(now.astimezone(UTC).date(), time(0), UTC) - timedelta(days=days - 1)
    day = _day_number(connection, runs.c.started_at)
    yielded = func.sum(runs.c.records_accepted + runs.c.records_seen_again)
    query = (
        select(runs.c.source_id, day.label("day"), yielded)
        .where(runs.c.source_id.in_(keys), runs.c.started_at >= first)
        .group_by(runs.c.source_id, day)
    )
    counted = {key: [0] * days for key in keys}
    start = (first - EPOCH).days
    for key, number, count in await connection.execute(query):
        place = int(number) - start
        if 0 <= place < days:
            counted[key][place] = int(count)
    return counted


def _day_number(connection: AsyncConnection, column: Any) -> ColumnElement[Any]:
    """Return the day of a moment as a number, counted from 1970."""
    if connection.dialect.name == "sqlite":
        return cast(column, BigInteger).op("/")(DAY_MICROS)
    return func.floor(cast(func.extract("epoch", column), Float) / DAY_SECONDS)
