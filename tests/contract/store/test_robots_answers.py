"""robots.txt files that outlive the process, the same on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.fetching.robots import Allowed, Disallowed, Robots, Unavailable
from tidemill.pipeline.ports import WireFailure, WireResponse
from tidemill.store.database.database import open_database
from tidemill.store.services.robots_answers import RobotsAnswers

pytestmark = pytest.mark.shows("F5")

PAGE = "https://example.org/agenda"
HOUR = timedelta(hours=1)


class Site:
    """Answers for its robots.txt, and counts how often it is asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    async def get(self, _href, _max_bytes):
        self.asked += 1
        return self.answer


@pytest.fixture
async def memory(migrated_url):
    database = open_database(migrated_url)
    yield RobotsAnswers(database)
    await database.close()


def said(text, code=200):
    return Site(WireResponse(status_code=code, headers={}, body=text.encode()))


async def test_a_restart_asks_nobody_again(memory, clock):
    site = said("User-agent: *\nDisallow: /agenda")
    first = await Robots(clock, "Tidemill", memory).verdict_for(PAGE, site.get)
    second = await Robots(clock, "Tidemill", memory).verdict_for(PAGE, site.get)
    assert (first, second, site.asked) == (Disallowed("Disallow: /agenda"), Disallowed("Disallow: /agenda"), 1)


async def test_what_was_said_holds_for_a_day_from_when_it_was_said(memory, clock):
    site = said("")
    await Robots(clock, "Tidemill", memory).verdict_for(PAGE, site.get)
    clock.advance(23 * HOUR)
    assert await Robots(clock, "Tidemill", memory).verdict_for(PAGE, site.get) == Allowed()
    assert site.asked == 1
    clock.advance(2 * HOUR)
    await Robots(clock, "Tidemill", memory).verdict_for(PAGE, site.get)
    assert site.asked == 2


@pytest.mark.parametrize(
    "site", [said("", 503), Site(WireFailure(failure=Failure.TIMED_OUT, detail="no answer"))], ids=["503", "away"]
)
async def test_what_could_not_be_got_is_not_kept(memory, clock, site):
    answered = await Robots(hurried(clock), "Tidemill", memory).verdict_for(PAGE, site.get)
    assert isinstance(answered, Unavailable)
    assert await memory.recall("https://example.org", clock.now()) is None


def hurried(clock):
    """The clock, for whoever waits between tries."""

    class Hurried:
        now = clock.now

        async def sleep_until(self, _moment):
            return

    return Hurried()


async def test_what_has_expired_is_forgotten(memory):
    await memory.keep("https://old.example", "", NOON)
    await memory.keep("https://new.example", "", NOON + 30 * HOUR)
    assert await memory.recall("https://old.example", NOON - HOUR) is None


async def test_while_the_database_is_away_nothing_is_known_and_nothing_breaks(tmp_path):
    away = RobotsAnswers(open_database(f"sqlite:///{tmp_path / 'nowhere' / 'x.db'}"))
    await away.keep("https://example.org", "", NOON)
    assert await away.recall("https://example.org", NOON) is None
