"""What keeps turning keeps turning, and says when it stumbled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidemill.core.schedules import Every
from tidemill.engine.clock import ClockJump
from tidemill.engine.periodic import Chore, ChoreRunner
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.lab.virtual import run_virtual
from tidemill.pipeline.happenings import ClockJumped, Happening, PartCrashed, StoreTrouble
from tidemill.pipeline.ports import StoreLost

EPOCH = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Register:
    """A register of workers whose heartbeat and farewell go wrong as told."""

    lease = timedelta(seconds=60)
    heartbeat = timedelta(seconds=20)

    def __init__(self, beats=(), farewell=None):
        self._beats = iter(beats)
        self._farewell = farewell
        self.seen = 0
        self.released = []
        self.latest = None

    async def register(self, _name, _pid, _now, _lanes=()):
        return 1

    async def beat(self, _key, _now, _skew=None):
        trouble = next(self._beats, None)
        if trouble is not None:
            raise trouble
        self.seen += 1
        return True

    async def last_seen(self):
        return self.latest

    async def release_lane(self, _key, lane):
        self.released.append(lane)
        return 0

    async def sign_off(self, _key, _now):
        if self._farewell is not None:
            raise self._farewell
        return 0


class Slots:
    """A book in which every slot is free."""

    async def take(self, *_which):
        return True

    async def finish(self, *_how):
        return None

    async def last_success(self, _names):
        return {}

    async def since(self):
        return None


class Lane:
    """A drain that stumbles as told, and finds nothing else to do."""

    def __init__(self, troubles):
        self._troubles = troubles

    def stir(self):
        return None

    def stop_claiming(self):
        return None

    async def run(self, _lane):
        if self._troubles:
            raise self._troubles.pop(0)


class Machine:
    """A machine whose clock is set once, and stood before what is on record at the start."""

    def __init__(self, *jumps):
        self._jumps = list(jumps)
        self.record = None

    def compare(self):
        return self._jumps.pop(0) if self._jumps else None

    def catch_up(self, moment):
        self.record = moment
        return ClockJump(EPOCH - moment, moment - EPOCH)


def turned(register, troubles=(), ticks=(), machine=None):
    """What a supervisor announces in ten minutes."""
    told: list[Happening] = []

    async def main(clock):
        lane: Any = Lane(list(troubles))
        worker = Worker(register, clock, "test")
        work = ChoreRunner(Slots(), clock, lambda _: None, worker.key)
        work.register(ticks)
        supervisor = Supervisor(worker, work, lambda: lane, ["http"], clock, told.append, machine=machine)

        async def after_ten_minutes():
            await clock.sleep_until(EPOCH + 10 * MINUTE)
            supervisor.stop()
            return "stopped"

        work.chores["end"] = Chore("end", Every(timedelta(hours=1)), after_ten_minutes)
        await supervisor.run()

    run_virtual(main, EPOCH)
    return told


def test_a_heartbeat_that_meets_a_bug_is_told_and_beats_again():
    register = Register(beats=[RuntimeError("a bug of ours")])
    (crash,) = turned(register)
    assert isinstance(crash, PartCrashed)
    assert (crash.part, "a bug of ours" in crash.detail) == ("heartbeat", True)
    assert register.seen > 20


def test_a_heartbeat_survives_a_lost_database():
    register = Register(beats=[StoreLost("away"), StoreLost("away")])
    told = turned(register)
    assert [type(each) for each in told] == [StoreTrouble, StoreTrouble]
    assert register.seen > 20


def test_a_lane_that_crashes_is_told_and_drains_again():
    told = turned(Register(), troubles=[KeyError("job"), StoreLost("away")])
    assert [type(each) for each in told] == [PartCrashed, StoreTrouble]
    assert told[0].part == "lane http"


def test_leaving_while_the_database_is_away_hides_nothing():
    (told,) = turned(Register(farewell=StoreLost("away")))
    assert isinstance(told, StoreTrouble)


@pytest.mark.parametrize(
    ("by", "words"),
    [(HOUR, "set forward"), (-HOUR, "half speed"), (timedelta(days=-3), "more than a day")],
)
def test_a_clock_that_was_set_is_told_once(by, words):
    (told,) = turned(Register(), machine=Machine(ClockJump(by, by)))
    assert isinstance(told, ClockJumped)
    assert (told.seconds, words in told.detail) == (by.total_seconds(), True)


def test_a_worker_begins_no_earlier_than_what_is_on_record():
    register, machine = Register(), Machine()
    register.latest = EPOCH + HOUR
    (told,) = turned(register, machine=machine)
    assert machine.record == EPOCH + HOUR
    assert (told.seconds, "half speed" in told.detail) == (-3_600, True)


def test_a_lane_in_doubt_hands_back_its_own_jobs_only():
    register = Register()
    turned(register, troubles=[StoreLost("away")])
    assert register.released == ["http"]
