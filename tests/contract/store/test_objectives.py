"""Objectives on real tables: minutes are counted and caught up with, burning is told and ends, and views agree."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from integration.web.world import an_event
from rig.clock import NOON, SettableClock
from rig.rows import a_source, a_target, put
from rig.watched import MINUTE, Watched, a_watched
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.bootstrap.watching.gauges import objective_gauges
from tidemill.core.objectives.minutes import hours_with
from tidemill.core.objectives.objective import CheckedRecords
from tidemill.operations.mistakes import Mistake
from tidemill.store.database.database import Database
from tidemill.store.records.checked import count_checked
from tidemill.store.schema import sources
from tidemill.store.schema import targets as scrape_targets
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("X4")

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
EVENTS: list[dict[str, Any]] = [{"vertical": "events", "within": "36h"}]


@pytest.fixture
async def watched(database: Database, clock: SettableClock) -> AsyncIterator[Watched]:
    async with a_watched(database, clock, objectives=EVENTS) as system:
        await put(system.system.store.database, sources, a_source())
        await put(system.system.store.database, scrape_targets, a_target())
        rows = [an_event(key, date=NOON + 90 * DAY, last_seen_at=NOON) for key in range(1, 101)]
        await put(system.system.store.database, events, *rows)
        yield system


async def count(watched: Watched, steps: int = 1, step: timedelta = MINUTE) -> None:
    for _ in range(steps):
        await watched.system.alerts.objectives.counting.run()
        watched.clock.advance(step)


async def seen(watched: Watched, how_many: int = 100) -> None:
    async with watched.system.store.database.write() as connection:
        await connection.execute(update(events).where(events.c.id <= how_many).values(last_seen_at=watched.clock.now()))


async def the_view(watched: Watched) -> Any:
    (view,) = await watched.system.actions.objectives.every()
    return view


async def test_minutes_are_good_while_enough_records_were_checked_lately(watched: Watched) -> None:
    await count(watched, 3)
    view = await the_view(watched)
    assert (view.active, view.checked, view.is_good, view.counted_minutes, view.bad_minutes) == (100, 100, True, 3, 0)
    watched.clock.set(NOON + 30 * HOUR)
    await seen(watched, 94)
    watched.clock.set(NOON + 37 * HOUR)
    await count(watched)
    view = await the_view(watched)
    assert (view.checked, view.is_good) == (94, False)
    await seen(watched, 95)
    await count(watched)
    assert (await the_view(watched)).is_good


async def test_a_minute_counts_once_however_often_it_is_counted(watched: Watched) -> None:
    for _ in range(5):
        await count(watched, 1, timedelta(seconds=5))
    assert (await the_view(watched)).counted_minutes == 1
    store = watched.system.alerts.objectives.store
    for _ in range(2):
        await store.count("events", hours_with([NOON + MINUTE], [NOON + 2 * MINUTE]), CheckedRecords(1, 1), NOON)
    watched.clock.set(NOON + 5 * MINUTE)
    view = await the_view(watched)
    assert (view.counted_minutes, view.bad_minutes) == (3, 1)


async def test_minutes_in_which_nobody_worked_are_worked_out_to_the_minute(watched: Watched) -> None:
    await count(watched, 10)
    watched.clock.set(NOON + 40 * HOUR)  # from the 36th hour on every record is too old: 4 hours and this minute
    await count(watched)
    view = await the_view(watched)
    assert (view.counted_minutes, view.bad_minutes) == (40 * 60 + 1, 4 * 60)
    await seen(watched)
    await count(watched, 60)
    assert (await the_view(watched)).bad_minutes == 4 * 60


async def test_burning_is_an_incident_at_its_moment_and_ends(watched: Watched) -> None:
    watched.clock.set(NOON + 36 * HOUR)
    begun: dict[str, int] = {}
    for minute in range(1, 60):
        watched.clock.advance(MINUTE)
        await watched.system.alerts.objectives.counting.run()
        await watched.evaluate()
        for alert in await watched.open():
            begun.setdefault(alert, minute)
    assert begun == {"objective_fast_burn": 9, "objective_burn": 22, "objective_slow_burn": 44}
    await watched.send()
    assert [title.split(":")[0] for title in watched.slack.titles] == ["P1 objective fast burn"]
    await seen(watched)
    for _ in range(20):
        watched.clock.advance(MINUTE)
        await watched.system.alerts.objectives.counting.run()
        await watched.minutes(1, timedelta(0))
    assert "objective_fast_burn" not in await watched.open()
    assert watched.slack.titles[-1].startswith("Recovered: P1 objective fast burn")


async def test_sources_that_rest_by_design_are_left_out_and_listed(watched: Watched) -> None:
    database = watched.system.store.database
    for row in (a_source(2, enabled=False), a_source(3), a_source(4, auto_disabled=True)):
        await put(database, sources, row)
    await put(database, scrape_targets, a_target(3, source_id=3, url="https://c.example/", schedule="0 6 * * 0"))
    await put(database, scrape_targets, a_target(4, source_id=4, url="https://d.example/"))
    old = NOON - 9 * DAY
    rows = [
        an_event(200 + key, source_id=key, date=NOON + 90 * DAY, first_seen_at=old, last_seen_at=old)
        for key in (2, 3, 4)
    ]
    await put(database, events, *rows)
    await count(watched)
    view = await the_view(watched)
    assert (view.active, view.checked) == (101, 100)  # drift switched source 4 off: it counts, and is late
    assert [(each.name, each.reason) for each in view.excluded] == [
        ("source 2", "switched off"), ("source 3", "its schedule leaves 168 h between two runs"),
    ]  # fmt: skip


async def test_events_of_the_past_and_gone_ones_are_nobodys_to_check(watched: Watched) -> None:
    gone = an_event(300, date=NOON + DAY, last_seen_at=NOON - 9 * DAY, gone_at=NOON)
    past = an_event(301, date=NOON - DAY, last_seen_at=NOON - 9 * DAY)
    await put(watched.system.store.database, events, gone)
    await put(watched.system.store.database, events, past)
    await count(watched)
    assert (await the_view(watched)).active == 100


async def test_gauges_say_what_the_views_say(watched: Watched) -> None:
    watched.clock.set(NOON + 38 * HOUR)
    await count(watched, 3)
    burn, left = objective_gauges([await the_view(watched)])
    assert dict(burn.rows)["events", "5m"] == pytest.approx(3 / 0.05)
    assert dict(left.rows)["events",] == pytest.approx(1 - 3 / 403.2, abs=1e-6)


async def test_counting_rests_a_hundred_times_as_long_as_it_took(watched: Watched) -> None:
    counting = watched.system.alerts.objectives.counting
    await put(watched.system.store.database, sources, a_source(9))
    asked = 0

    async def slow(*_: Any) -> CheckedRecords:
        nonlocal asked
        asked += 1
        watched.clock.advance(timedelta(seconds=2))
        return CheckedRecords(1, 1)

    object.__setattr__(counting, "count", slow)
    for _ in range(5):
        await counting.run()
        watched.clock.advance(MINUTE)
    assert asked == 2
    assert (await the_view(watched)).counted_minutes == 5


@pytest.mark.parametrize("vertical", VERTICALS)
async def test_every_vertical_can_count_its_records(vertical: str, watched: Watched) -> None:
    counter = watched.system.store.verticals[vertical].checked
    assert counter is not None
    counted = await count_checked(watched.system.store.database, counter, {1}, NOON - DAY, NOON)
    assert counted == (CheckedRecords(100, 100) if vertical == "events" else CheckedRecords(0, 0))


async def test_an_objective_of_an_unknown_vertical_is_refused(database: Database, clock: SettableClock) -> None:
    with pytest.raises(Mistake, match="evnts"):
        async with a_watched(database, clock, objectives=[{"vertical": "evnts", "within": "1h"}]):
            pass


@pytest.mark.parametrize(
    "wrong",
    [{"vertical": "events", "within": "soon"}, {"vertical": "events", "within": "1h", "minutes": 1},
     {"vertical": "events", "within": "1h", "recrods": 0.9}],
)  # fmt: skip
async def test_an_objective_that_makes_no_sense_is_refused(
    wrong: dict[str, Any], database: Database, clock: SettableClock
) -> None:
    with pytest.raises(ValueError, match="objectives"):
        async with a_watched(database, clock, objectives=[wrong]):
            pass
