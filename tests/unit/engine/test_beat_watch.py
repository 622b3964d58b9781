"""A worker that does unasked what beat should have sent says so, and takes it back when beat is heard."""

from datetime import timedelta

import pytest

from rig.clock import SettableClock
from tidemill.engine.beat_watch import MOST_UNSENT, BeatWatch

PATIENCE = timedelta(minutes=1)


class Listening:
    """A watch with what it reported."""

    def __init__(self):
        self.clock = SettableClock()
        self.reports = []
        self.watch = BeatWatch(self.clock, self.report, PATIENCE)

    async def report(self, trouble):
        self.reports.append(trouble)

    async def does_unasked(self, chores):
        for _ in range(chores):
            await self.watch.did_unasked()


@pytest.mark.shows("B2")
async def test_beat_is_missed_after_some_chores_and_some_time_and_is_back_when_heard():
    listening = Listening()
    listening.clock.advance(PATIENCE)
    await listening.does_unasked(MOST_UNSENT)
    assert listening.reports == [await listening.watch.probe()]
    assert listening.reports[0].startswith("no beat has been heard since ")
    await listening.watch.heard()
    assert (listening.reports[1:], await listening.watch.probe()) == ([""], "")


async def test_messages_that_are_late_are_no_trouble():
    listening = Listening()
    await listening.does_unasked(MOST_UNSENT)
    assert listening.reports == []  # too soon
    await listening.watch.heard()
    listening.clock.advance(PATIENCE)
    await listening.does_unasked(MOST_UNSENT - 1)
    assert listening.reports == [""]
