"""The queue's limits in the running system: 1,000 per adapter, 10,000 in all, live work past both."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from rig.clock import NOON, SettableClock
from rig.mill import VERTICALS, Mill
from rig.rows import a_source, a_target, put
from tidemill.core.admission import QueueLimits, Rejection
from tidemill.core.policy import LIVE
from tidemill.core.run import Trigger
from tidemill.engine.chores import dispatch
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import EnqueueRejected, Overdue
from tidemill.store.database.database import Database
from tidemill.store.schema import jobs, sources, targets
from tidemill.verticals.events.definition import EVENTS

PER_ADAPTER, IN_ALL = 1_000, 10_000


LIVE_EVENTS = replace(EVENTS, name="live", policy=LIVE)
"""A vertical whose pages move by the second."""


async def crowd(mill: Mill, adapters: int, each: int) -> None:
    await put(mill.database, sources, a_source(1))
    names = [f"adapter{number}" for number in range(adapters) for _ in range(each)]
    rows = [a_target(key, adapter_id=name, next_due_at=NOON) for key, name in enumerate(names, start=1)]
    await put(mill.database, targets, *rows)


@pytest.mark.shows("O4")
async def test_the_queue_takes_a_thousand_per_adapter_and_ten_thousand_in_all(
    sqlite_database: Database, clock: SettableClock
) -> None:
    mill = Mill(sqlite_database, clock)
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
        backoff = await mill.agenda.backoff()
        assert backoff.until is not None
        if (backoff.until - clock.now()) < timedelta(minutes=30):
            clock.set(backoff.until)
    await dispatch(hands)
    assert [told.subject for told in mill.announced if isinstance(told, Overdue)] == ["schedule"]


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
    assert msgspec.structs.asdict(await mill.agenda.backoff())["until"] is None
