"""The queue's limits in the running system: per adapter and in all, slices of hosts, live work past all of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text

from rig.clock import NOON, SettableClock
from rig.mill import VERTICALS, Mill
from rig.rows import a_source, a_target, put
from tidemill.core.admission import QueueLimits, Rejection
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.policy import LIVE
from tidemill.core.run import Trigger
from tidemill.engine.chores import dispatch
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import EnqueueRejected, Overdue, RunOpened
from tidemill.store.database.database import Database
from tidemill.store.schema import hosts, jobs, sources, targets
from tidemill.verticals.events.definition import EVENTS

PER_ADAPTER, IN_ALL = 1_000, 10_000
HOSTS, PAGES = 50, 400


LIVE_EVENTS = replace(EVENTS, name="live", policy=LIVE)
"""A vertical whose pages move by the second."""


async def crowd(mill: Mill, adapters: int, each: int) -> None:
    await put(mill.database, sources, a_source(1))
    names = [f"adapter{number}" for number in range(adapters) for _ in range(each)]
    rows = [a_target(key, adapter_id=name, next_due_at=NOON) for key, name in enumerate(names, start=1)]
    await put(mill.database, targets, *rows)


@pytest.mark.shows("O4")
async def test_the_queue_takes_so_many_per_adapter_and_so_many_in_all(
    sqlite_database: Database, clock: SettableClock
) -> None:
    mill = Mill(sqlite_database, clock)
    mill.dispatcher._limits = QueueLimits(per_adapter=PER_ADAPTER, total=IN_ALL)
    await crowd(mill, adapters=11, each=PER_ADAPTER + 1)
    done, answer = await mill.dispatcher.enqueue(await mill.agenda.of_source(1), Trigger.MANUAL)
    assert (done.jobs, answer.rejected) == (IN_ALL, 11 * (PER_ADAPTER + 1) - IN_ALL)
    assert (answer.reason, answer.retry_after) == (Rejection.QUEUE_FULL, timedelta(minutes=5))
    pending, total = await mill.agenda.pending()
    assert (max(pending.values()), total) == (PER_ADAPTER, IN_ALL)
    assert [told.rejected for told in mill.announced if isinstance(told, EnqueueRejected)] == [answer.rejected]


@pytest.mark.shows("O3")
async def test_live_work_is_admitted_past_a_full_queue_and_goes_first(
    sqlite_database: Database, clock: SettableClock
) -> None:
    mill = Mill(sqlite_database, clock)
    limits = QueueLimits(per_adapter=2, total=2)
    verticals = VERTICALS | {"live": LIVE_EVENTS}
    dispatcher = Dispatcher(mill.agenda, verticals, clock, mill.dispatcher._dice, mill.announced.append, limits=limits)
    await crowd(mill, adapters=1, each=3)
    await put(mill.database, sources, a_source(2, vertical="live"))
    await put(mill.database, targets, a_target(100, source_id=2, adapter_id="adapter0"))
    ordinary, _ = await dispatcher.enqueue(await mill.agenda.of_source(1), Trigger.MANUAL)
    live, answer = await dispatcher.enqueue(await mill.agenda.of_source(2), Trigger.MANUAL)
    assert (ordinary.jobs, live.jobs, answer.rejected) == (2, 1, 0)
    ranks = {row["source_id"]: row["rank"] for row in await mill.rows(jobs)}
    assert ranks[2] < ranks[1]


@pytest.mark.shows("O4")
async def test_a_backoff_of_over_half_an_hour_is_told(sqlite_database: Database, clock: SettableClock) -> None:
    mill = Mill(sqlite_database, clock)
    mill.dispatcher._limits = QueueLimits(per_adapter=0, total=0)
    await crowd(mill, adapters=1, each=3)
    hands: Any = Hands(mill, clock)
    for _ in range(4):
        await dispatch(hands)
        clock.advance(timedelta(seconds=1))
        backoff = (await mill.agenda.backoffs())["adapter0"]
        assert backoff.until is not None
        if (backoff.until - clock.now()) < timedelta(minutes=30):
            clock.set(backoff.until)
    await dispatch(hands)
    assert {told.subject for told in mill.announced if isinstance(told, Overdue)} == {"adapter adapter0"}


class Hands:
    """As much of the chores' hands as dispatch works with."""

    def __init__(self, mill: Mill, clock: SettableClock) -> None:
        self.dispatcher, self.clock, self.announce = mill.dispatcher, clock, mill.announced.append
        self.alert_backoff = timedelta(minutes=30)
        self.waker = self

    def wake(self, workers: int) -> None:
        """Nobody sleeps here."""


@pytest.mark.shows("S4", "O2")
async def test_a_broken_target_is_looked_at_a_week_later_in_a_run_of_its_own(
    sqlite_database: Database, clock: SettableClock
) -> None:
    mill = Mill(sqlite_database, clock)
    await crowd(mill, adapters=1, each=2)
    async with mill.database.write() as connection:
        await connection.execute(targets.update().where(targets.c.id == 1).values(status="BROKEN"))
    await mill.dispatcher.dispatch()
    async with mill.database.read() as connection:
        triggers = dict((await connection.execute(select(jobs.c.target_id, jobs.c.trigger))).all())
    assert triggers == {1: "RECHECK", 2: "SCHEDULED"}
    due = {row["id"]: row["next_due_at"] for row in await mill.rows(targets)}
    assert due[1] == NOON + timedelta(days=7)
    assert await mill.agenda.backoffs() == {}


async def read_by(mill: Mill, source: int, adapter: str) -> None:
    async with mill.database.write() as connection:
        await connection.execute(targets.update().where(targets.c.source_id == source).values(adapter_id=adapter))


@pytest.mark.shows("O4")
async def test_a_full_adapter_pauses_alone_and_only_until_there_is_room(
    database: Database, clock: SettableClock
) -> None:
    mill = Mill(database, clock)
    mill.dispatcher._limits = QueueLimits(per_adapter=10, total=1_000)
    await read_by(mill, await mill.source("full", pages=40), "one")
    assert (await mill.dispatcher.dispatch()).jobs == 10
    clock.advance(timedelta(minutes=1))
    assert (await mill.dispatcher.dispatch()).paused == {"one": timedelta(minutes=4)}
    await read_by(mill, await mill.source("other", pages=3), "two")
    assert (await mill.dispatcher.dispatch()).jobs == 3
    for each in await mill.claim(await mill.worker(), 4):
        await mill.commit((each, Fail(Failure.SOURCE_OFF, "off")))
    clock.advance(timedelta(seconds=1))
    assert (await mill.dispatcher.dispatch()).jobs >= 1


def hosts_at_work(hosts: int, pages: int) -> list[dict[str, Any]]:
    """Targets of so many hosts, each a source of its own, in the order in which a file would bring them."""
    return [
        a_target(number * pages + page + 1, source_id=number + 1, host=f"host{number}.example", next_due_at=NOON)
        for number in range(hosts)
        for page in range(pages)
    ]


FINISH = """
    UPDATE pipeline_jobs SET status = 'done', current_stage = 'completed' WHERE id IN (SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY host ORDER BY rank, id) AS place FROM pipeline_jobs
        WHERE status = 'ready') AS ready WHERE place <= :each)"""


@pytest.mark.shows("O4")
async def test_twenty_thousand_pages_of_fifty_hosts_come_as_fast_as_their_pace_allows(
    database: Database, clock: SettableClock
) -> None:
    """A minute of dispatch, then a minute in which every host answers as many pages as its pace allows: 30."""
    mill = Mill(database, clock)
    mill.dispatcher._limits = QueueLimits()
    await put(database, sources, *(a_source(number + 1, name=f"shop{number}") for number in range(HOSTS)))
    await put(database, hosts, *(
        {"host": f"host{number}.example", "interval_ms": 2_000, "burst": 1, "parallel": 1, "opens_at": NOON}
        for number in range(HOSTS)
    ))  # fmt: skip
    rows = hosts_at_work(HOSTS, PAGES)
    for start in range(0, len(rows), 1_000):
        await put(database, targets, *rows[start : start + 1_000])
    minutes, most, opened = 0, 0, set()
    while minutes < 20:
        done = await mill.dispatcher.dispatch()
        assert done.rejected == 0
        most = max(most, sum((await mill.agenda.pending())[0].values()))
        async with database.write() as connection:
            finished = await connection.execute(text(FINISH), {"each": 30})
        if not finished.rowcount and not done.jobs:
            break
        opened |= {told.run_id for told in mill.announced if isinstance(told, RunOpened)}
        minutes += 1
        clock.advance(timedelta(minutes=1))
    async with database.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(jobs))).scalar() == HOSTS * PAGES
        in_runs = (await connection.execute(select(func.count(jobs.c.run_id.distinct())))).scalar()
    assert timedelta(minutes=minutes) <= timedelta(seconds=2) * PAGES * 1.15
    assert most <= HOSTS * 90
    assert in_runs == len(opened) == HOSTS, "a source whose targets were admitted in slices is still one run"


async def test_a_target_that_is_due_anew_does_not_join_a_run_that_lasts(
    database: Database, clock: SettableClock
) -> None:
    mill = Mill(database, clock)
    await mill.source("slow", pages=2)
    await mill.dispatcher.dispatch()
    async with database.write() as connection:
        await connection.execute(text(FINISH), {"each": 1})
        await connection.execute(targets.update().values(next_due_at=NOON + timedelta(hours=1)))
    clock.advance(timedelta(hours=2))
    assert (await mill.dispatcher.dispatch()).jobs == 1
    assert len({row["run_id"] for row in await mill.rows(jobs)}) == 2
