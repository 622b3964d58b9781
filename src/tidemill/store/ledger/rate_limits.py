"""The booking that all processes share: what each host was asked, and who is there without a claim.

A claim puts its first request on the booking. Whatever else a fetch asks for (robots.txt, redirects, second tries) is
put there as it comes, and a request that a redirect led to somebody else's host takes a place there like a job's.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, case, exists, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.outcome import Stage
from tidemill.core.pacing import (
    Departure,
    Pace,
    charged,
    departure_tolerance,
    departures,
    is_held_alone,
    next_departure,
    opens_at,
)
from tidemill.pipeline.live_ports import SlotBatch
from tidemill.store.database.database import Database
from tidemill.store.schema import hosts, jobs
from tidemill.store.schema.rows import Row, pace_of
from tidemill.store.sources.hosts import MILLISECOND

_ROW = select(hosts).where(hosts.c.host == bindparam("b_host"))
_ROW_TO_CHANGE = _ROW.with_for_update()
_AT_WORK = (
    select(func.count())
    .select_from(jobs)
    .where(text("pipeline_jobs.status = 'leased'"), jobs.c.host == bindparam("b_host"))
    .where(jobs.c.current_stage == Stage.FETCH)
)
_OTHERS_WAIT = select(
    exists().where(
        jobs.c.host == bindparam("b_host"),
        text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'"),
    )
)
_OF_HOST = update(hosts).where(hosts.c.host == bindparam("b_host"))
_PUT_ON_TAB = _OF_HOST.values(tab_at=bindparam("b_tab"), opens_at=bindparam("b_opens"))
_COME_IN = _OF_HOST.values(guests=bindparam("b_guests"), guests_until=bindparam("b_until"))
_LEAVE = _OF_HOST.values(guests=case((hosts.c.guests > 0, hosts.c.guests - 1), else_=0))


class RateLimitRepository:
    """The ledger's booking of every host, for those who send requests."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def pace_of(self, host: str) -> Pace | None:
        """The pace of a host that somebody scrapes; None for a stranger."""
        async with self._database.glance() as connection:
            row = (await connection.execute(_ROW, {"b_host": host})).mappings().one_or_none()
        return None if row is None else pace_of(row)

    async def reserve(self, host: str, pace: Pace, now: datetime, mine: datetime | None) -> Departure:
        """Put one request on the host's booking; answers when it may leave."""
        async with self._database.write() as connection:
            row = await self._known(connection, host, pace, now)
            slot, values = _put_on_tab(row, pace, now, mine)
            await connection.execute(_PUT_ON_TAB, values)
        return slot

    async def reserve_many(
        self, host: str, pace: Pace, count: int, within: timedelta, now: datetime, mine: datetime | None
    ) -> SlotBatch:
        """Put up to `count` requests on the host's booking that may leave within a while, at least one.

        Nothing is booked at a host that asked to be left alone.
        """
        async with self._database.write() as connection:
            row = await self._known(connection, host, pace, now)
            pace = _slower_of(row, pace)
            if row["opens_at"] > max(now, row["tab_at"] or now) + pace.interval:
                return SlotBatch(rests_until=row["opens_at"])
            slots = departures(pace, row["tab_at"], now, mine, count, within)
            opens = max(row["opens_at"], opens_at(pace, slots[-1].booked_until, now))
            values = {"b_host": host, "b_tab": slots[-1].booked_until, "b_opens": opens}
            await connection.execute(_PUT_ON_TAB, values)
            others = (await connection.execute(_OTHERS_WAIT, {"b_host": host})).scalar_one()
        return SlotBatch(slots, bool(others))

    async def give_back(self, host: str, pace: Pace, unused: int, booked_until: datetime) -> bool:
        """Take the last requests off the host's booking that were not sent, unless somebody has booked since."""
        async with self._database.write() as connection:
            row = (await connection.execute(_ROW_TO_CHANGE, {"b_host": host})).mappings().one_or_none()
            if row is None or row["tab_at"] != booked_until:
                return False
            tab = booked_until - _slower_of(row, pace).interval * unused
            values = {"b_host": host, "b_tab": tab, "b_opens": min(row["opens_at"], max(tab, row["served_at"] or tab))}
            await connection.execute(_PUT_ON_TAB, values)
        return True

    async def charge(self, host: str, pace: Pace, requests: int, now: datetime) -> None:
        """Put requests on the host's booking that have been sent already."""
        async with self._database.write() as connection:
            row = await self._known(connection, host, pace, now)
            pace = _slower_of(row, pace)
            booked_until = charged(pace, row["tab_at"], requests, now)
            opens = max(row["opens_at"], opens_at(pace, booked_until, now))
            await connection.execute(_PUT_ON_TAB, {"b_host": host, "b_tab": booked_until, "b_opens": opens})

    async def request_visit(self, host: str, pace: Pace, now: datetime, stay: timedelta) -> bool:
        """Ask for a place; claims leave it free from now on."""
        async with self._database.write() as connection:
            row = await self._known(connection, host, pace, now)
            guests = guests_of(row, now)
            if guests >= row["parallel"]:
                return False
            until = max(now + stay, row["guests_until"] or now)
            await connection.execute(_COME_IN, {"b_host": host, "b_guests": guests + 1, "b_until": until})
        return True

    async def admit_visitor(self, host: str, pace: Pace, now: datetime) -> Departure | None:
        """Put a visitor's request on the booking, if the jobs at work there leave room for it."""
        async with self._database.write() as connection:
            row = await self._known(connection, host, pace, now)
            at_work = (await connection.execute(_AT_WORK, {"b_host": host})).scalar_one()
            if at_work + guests_of(row, now) > row["parallel"]:
                return None
            slot, values = _put_on_tab(row, pace, now, None)
            await connection.execute(_PUT_ON_TAB, values)
        return slot

    async def leave(self, host: str) -> None:
        """A visitor's request is over."""
        async with self._database.write() as connection:
            await connection.execute(_LEAVE, {"b_host": host})

    async def _known(self, connection: AsyncConnection, host: str, pace: Pace, now: datetime) -> Row:
        """The host's row, held until the transaction ends; a stranger gets one."""
        row = (await connection.execute(_ROW_TO_CHANGE, {"b_host": host})).mappings().one_or_none()
        if row is not None:
            return row
        own = {"interval_ms": pace.interval // MILLISECOND, "burst": pace.burst, "parallel": pace.parallel}
        stranger = {"host": host, "opens_at": now, **own}
        await connection.execute(self._database.insert(hosts).on_conflict_do_nothing(), [stranger])
        return (await connection.execute(_ROW_TO_CHANGE, {"b_host": host})).mappings().one()


def guests_of(row: Row, now: datetime) -> int:
    """How many visitors a host has; those who never said goodbye are forgotten with time."""
    until: datetime | None = row["guests_until"]
    return row["guests"] if until is not None and until > now else 0


def _slower_of(row: Row, pace: Pace) -> Pace:
    return max(pace_of(row), pace, key=lambda each: each.interval)


def _put_on_tab(row: Row, pace: Pace, now: datetime, mine: datetime | None) -> tuple[Departure, dict[str, Any]]:
    """One more request, at the slower of the host's own pace and the one it is asked at."""
    pace = _slower_of(row, pace)
    slot = next_departure(pace, row["tab_at"], now, mine)
    # A claim of a host that is held alone goes at once: it must not come while this request may still leave late.
    late = departure_tolerance(pace) if is_held_alone(pace) else timedelta(0)
    opens = max(row["opens_at"], opens_at(pace, slot.booked_until + late, now))
    return slot, {"b_host": row["host"], "b_tab": slot.booked_until, "b_opens": opens}
