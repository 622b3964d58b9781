"""The breaker law, checked by what is announced and by what the sites saw."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tidemill.core.breaker import BreakerPolicy
from tidemill.core.failure import MEANING, Failure
from tidemill.core.outcome import Stage
from tidemill.lab.simulation.event_log import SourceSwitched
from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.lab.simulation.laws.politeness import ROBOTS
from tidemill.pipeline.happenings import BreakerMoved, JobDead, JobWaits, PageGot, StageDone

POLICY = BreakerPolicy()
IN_FLIGHT = timedelta(seconds=10)
"""What was in hand when the breaker opened is not called back."""
SLACK = timedelta(seconds=2)


class BreakerFollower:
    """Follows one source's breaker by the announcements alone."""

    def __init__(self, name: str) -> None:
        """Closed, as every breaker begins."""
        self.name = name
        self.state = "CLOSED"
        self.failures = 0
        self.opened = 0
        self.spans: list[tuple[datetime, datetime]] = []
        self.breaches: list[str] = []

    def reset(self, at: datetime) -> None:
        """A person trusts the source again."""
        self.state, self.failures, self.opened = "CLOSED", 0, 0
        if self.spans:
            begun, until = self.spans[-1]
            self.spans[-1] = (begun, min(until, at))

    def failed(self) -> None:
        """A job said that the source is unwell."""
        self.failures += 1

    def went_well(self) -> None:
        """A job said that the source is well."""
        if self.state == "CLOSED":
            self.failures = 0

    def moved(self, move: BreakerMoved) -> None:
        """The breaker changed state."""
        match (move.before, move.after):
            case ("CLOSED", "OPEN"):
                self._expect(self.state == "CLOSED", "opened though it was not closed", move)
                self._expect(self.failures >= POLICY.threshold, f"opened after {self.failures} failures", move)
                self._open(move, first=True)
            case ("HALF_OPEN", "OPEN"):
                self._expect(self.state == "OPEN", "reopened though it had not been open", move)
                self._open(move, first=False)
            case ("HALF_OPEN", "CLOSED"):
                self._expect(self.state == "OPEN", "closed though it had not been open", move)
                self.state, self.failures, self.opened = "CLOSED", 0, 0
            case _:
                self._expect(False, f"moved from {move.before} to {move.after}", move)  # noqa: FBT003 - the odd case

    def _open(self, move: BreakerMoved, *, first: bool) -> None:
        self.opened = 1 if first else self.opened + 1
        self.state = "OPEN"
        due = POLICY.cooldown_after(self.opened - 1)
        until = move.until or move.at
        self._expect(abs(until - move.at - due) <= SLACK, f"rests for {until - move.at}, not {due}", move)
        self.spans.append((move.at, until))

    def _expect(self, holds: bool, otherwise: str, move: BreakerMoved) -> None:  # noqa: FBT001 - reads as a sentence
        if not holds:
            self.breaches.append(f"{self.name}: {otherwise} at {move.at:%d %H:%M:%S}")


def breakers(finished: FinishedSimulation) -> LawVerdict:
    """Breakers open after five failures, rest twice as long each time, and let one probe out at a time."""
    followers = {key: BreakerFollower(name) for key, name in finished.rows.sources.items()}
    by_host = {f"{name}.test": key for key, name in finished.rows.sources.items()}
    sources = {job.id: job.source_id for job in finished.rows.jobs}
    moves = 0
    for event in finished.recorder.events:
        match event:
            case BreakerMoved():
                moves += 1
                followers[event.source_id].moved(event)
            case SourceSwitched(on=True):
                followers[by_host[event.host]].reset(event.at)
            case JobDead(source_id=source_id) | JobWaits(source_id=source_id):
                _note_failure(followers[source_id], event.failure, event.stage)
            case PageGot(unchanged=True, job_id=job_id):
                followers[sources[job_id]].went_well()
            case StageDone(stage=Stage.PARSE, source_id=source_id):
                followers[source_id].went_well()
            case _:
                pass
    breaches = [breach for follower in followers.values() for breach in follower.breaches]
    for follower in followers.values():
        breaches += _calls_while_open(finished, follower)
    return verdict("breakers keep their law", f"{moves} moves", breaches)


def _note_failure(follower: BreakerFollower, failure: Failure | None, stage: Stage) -> None:
    if failure is None:
        return
    if MEANING[failure].trips_breaker:
        follower.failed()
    elif stage is Stage.PARSE or failure in {Failure.NOT_FOUND, Failure.TOO_LARGE}:
        follower.went_well()


def _calls_while_open(finished: FinishedSimulation, follower: BreakerFollower) -> Iterator[str]:
    """Pages asked for during a rest, and more than one probe after it before its answer is in."""
    asked = [each for each in finished.requests_by_host.get(f"{follower.name}.test", ()) if each.path != ROBOTS]
    for begins, ends in follower.spans:
        for each in asked:
            if begins + IN_FLIGHT < each.at < ends - SLACK:
                yield f"{follower.name}: {each.path} asked at {each.at:%d %H:%M:%S} while its breaker was open"
