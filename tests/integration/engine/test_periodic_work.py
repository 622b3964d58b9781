"""Schedule against outcome: periodic work that does not happen is missed, however it fails to."""

from datetime import timedelta

import msgspec
import pytest

from rig.works import the_works
from tidemill.pipeline.happenings import Happening, Overdue, TickRan
from tidemill.store.schema import tick_slots

pytestmark = pytest.mark.shows("B2")

MINUTE = timedelta(minutes=1)


class Died(BaseException):
    """Takes the process down, as far as a tick can tell."""


@pytest.fixture
async def works(migrated_url, clock):
    async with the_works(migrated_url, clock) as view:
        await view.system.worker.sign_in()
        yield view


@pytest.fixture
def heard(works):
    happenings: list[Happening] = []
    works.system.announce.add(happenings.append)
    return happenings


def replace_dispatch(works, chore):
    """Let `dispatch` do something else."""
    every = works.system.ticks.chores
    every["dispatch"] = msgspec.structs.replace(every["dispatch"], run=chore)


async def pass_minutes(works, count, *names):
    """Let minutes pass, in each of which these ticks are tried."""
    for _ in range(count):
        works.system.clock.advance(MINUTE)
        for name in names:
            try:
                await works.system.ticks.tick(name)
            except Died:
                continue


def overdue(heard):
    """What the proof complained of."""
    return {happening.subject: happening.detail for happening in heard if isinstance(happening, Overdue)}


async def test_work_that_goes_well_is_never_overdue(works, heard):
    await pass_minutes(works, 10, "rescue", "close_runs", "dispatch", "proof")
    assert "tick dispatch" not in overdue(heard)


async def test_work_that_falls_silent_for_three_periods_is_overdue(works, heard):
    await pass_minutes(works, 1, "dispatch")
    await pass_minutes(works, 3, "proof")
    assert "tick dispatch" not in overdue(heard)
    await pass_minutes(works, 2, "proof")
    assert overdue(heard)["tick dispatch"] == "last went well 2026-03-02 12:01 UTC, due every minute"


async def test_work_that_dies_before_it_writes_a_row_is_overdue(works, heard):
    await pass_minutes(works, 6, "rescue", "proof")
    assert await works.count(tick_slots, name="dispatch") == 0
    assert overdue(heard)["tick dispatch"] == "has never gone well, due every minute"


async def test_work_that_dies_each_time_after_it_began_is_overdue(works, heard):
    async def die():
        raise Died

    await pass_minutes(works, 1, "dispatch")
    replace_dispatch(works, die)
    await pass_minutes(works, 5, "dispatch", "proof")
    assert {row["status"] for row in await works.rows(tick_slots, name="dispatch")} == {"ok", "running"}
    assert "tick dispatch" in overdue(heard)


async def test_work_that_fails_each_time_says_so_and_is_overdue(works, heard):
    async def fail():
        msg = "no idea what is due"
        raise ValueError(msg)

    replace_dispatch(works, fail)
    await pass_minutes(works, 6, "dispatch", "proof")
    failures = [one.detail for one in heard if isinstance(one, TickRan) and one.status == "failed"]
    assert len(failures) == 6
    assert failures[0].strip().endswith("ValueError: no idea what is due")
    assert overdue(heard)["tick dispatch"] == "has never gone well, due every minute"


async def test_a_proof_that_is_itself_missing_shows(works):
    await pass_minutes(works, 20, "dispatch")
    assert "proof" in dict(await works.system.ticks.overdue())
    [ticks] = [one for one in await works.system.actions.doctor.examine() if one.name == "ticks"]
    assert (ticks.level, "silent" in ticks.detail) == ("warning", True)
