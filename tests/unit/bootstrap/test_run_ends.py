"""What is done soon after runs have ended."""

from rig.clock import NOON
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.run_ends import PAUSE, following_run_ends
from tidemill.core.run import Counts, RunStatus, RunSummary
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.pipeline.happenings import Happening, PartCrashed, RunClosed
from tidemill.plugin import Parts

CLOSED = RunClosed(
    NOON,
    RunSummary(
        run_id=1, source_id=1, source_name="arnhem", vertical="events", trigger="manual", status=RunStatus.SUCCESS,
        started_at=NOON, completed_at=NOON, counts=Counts(), complete=True,
    ),
)  # fmt: skip


def followed(announced, crashes=0):
    """Announce so many ends of runs each second; answers when the work was done, and what crashed."""
    done: list[float] = []
    heard: list[Happening] = []

    async def main(clock: VirtualClock) -> None:
        left = [crashes]

        async def work() -> None:
            done.append((clock.now() - NOON).total_seconds())
            if left[0]:
                left[0] -= 1
                raise OSError(28, "no disk")

        announce = Listeners(heard.append)
        async with following_run_ends(announce, clock, [Parts(after_runs=[work])]):
            for ends in announced:
                for _ in range(ends):
                    announce(CLOSED)
                await clock.sleep_until(clock.now() + 2 * PAUSE)

    run_virtual(main, NOON)
    return done, [each for each in heard if isinstance(each, PartCrashed)]


def test_runs_that_end_together_are_followed_up_once_and_at_once():
    assert followed([30, 0, 1]) == ([0.0, 4.0], [])


def test_what_crashes_is_told_and_the_next_run_is_followed_up():
    done, crashed = followed([1, 1], crashes=1)
    assert len(done) == 2
    assert "no disk" in crashed[0].detail
