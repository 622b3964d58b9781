"""A database that is away when `tidemill up` starts is waited for, and not for ever."""

from datetime import timedelta

import pytest

from rig.clock import NOON, SettableClock
from tidemill.bootstrap.cluster.database_wait import wait_for_database
from tidemill.pipeline.ports import StoreClosedToUs, StoreError, StoreLost

AWAY = "the database does not answer (refused); check its address and that it runs"
MINUTE = timedelta(minutes=1)


class Start:
    """A database that comes up after so many questions, or refuses for good."""

    def __init__(self, away=0, refusal=None):
        self.clock = SettableClock()
        self.said = []
        self._away = away
        self._refusal = refusal
        self.asked = 0

    async def ask(self):
        self.asked += 1
        if self._refusal is not None:
            raise self._refusal
        if self.asked <= self._away:
            raise StoreLost(AWAY)

    async def waited(self, longest):
        return await wait_for_database(self.ask, longest, self.clock, self.said.append)


async def test_a_database_that_is_there_is_asked_once():
    start = Start()
    assert not await start.waited(MINUTE)
    assert (start.asked, start.said, start.clock.now()) == (1, [], NOON)


async def test_one_that_comes_up_later_is_waited_for_with_one_line():
    start = Start(away=7)
    assert await start.waited(MINUTE)
    assert start.clock.now() == NOON + timedelta(seconds=7)
    assert start.said == [f"Waiting up to 60 s for the database (database_wait_seconds): {AWAY}"]


async def test_one_that_does_not_come_up_is_given_up_with_words():
    start = Start(away=1_000)
    with pytest.raises(StoreLost, match=r"waited 60 s \(database_wait_seconds\), and the database does not answer"):
        await start.waited(MINUTE)
    assert start.clock.now() == NOON + MINUTE


async def test_who_does_not_want_to_wait_does_not():
    start = Start(away=1_000)
    with pytest.raises(StoreLost, match=r"^the database does not answer"):
        await start.waited(timedelta(0))
    assert (start.asked, start.said) == (1, [])


@pytest.mark.parametrize("refusal", [StoreError("no tables yet"), StoreClosedToUs("wrong password")])
async def test_a_refusal_is_not_waited_for(refusal):
    start = Start(refusal=refusal)
    with pytest.raises(StoreError, match=str(refusal)):
        await start.waited(MINUTE)
    assert start.asked == 1
