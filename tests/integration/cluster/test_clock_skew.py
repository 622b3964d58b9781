"""A machine whose clock differs from the database's takes nothing on."""

from datetime import timedelta

import pytest

from tidemill.bootstrap.cluster.clocks import refuse_wrong_clock, skew_measure
from tidemill.engine.clock import RealClock, wall_time
from tidemill.operations.mistakes import Mistake
from tidemill.store.database.database import open_database


@pytest.fixture
async def database(postgres_url):
    opened = open_database(postgres_url)
    yield opened
    await opened.close()


def clock_off_by(seconds):
    return RealClock(wall=lambda: wall_time() + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-1.5, 0, 1.5])
async def test_a_clock_within_two_seconds_of_the_databases_is_taken(database, seconds):
    await refuse_wrong_clock(database, clock_off_by(seconds))


@pytest.mark.shows("D2")
@pytest.mark.parametrize(("seconds", "side"), [(4000, "ahead of"), (-4000, "behind")])
async def test_a_clock_that_is_further_off_is_refused_with_what_to_do(database, seconds, side):
    with pytest.raises(Mistake, match=f"{side} the database's, and 2 s are allowed; set the clocks"):
        await refuse_wrong_clock(database, clock_off_by(seconds))


async def test_sqlite_goes_by_the_machines_own_clock(sqlite_url):
    database = open_database(sqlite_url)
    assert skew_measure(database, RealClock()) is None
    await database.close()
