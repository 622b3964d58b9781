"""Why a request that was about to leave does not."""

from datetime import datetime

from tidemill.core.failure import Failure
from tidemill.core.gates import GateAnswer
from tidemill.pipeline.ports import WireFailure


class NotSent(Exception):
    """A request must not leave; raised where it waits, and carried out through the transport that holds it."""

    def __init__(self, failure: Failure, words: str, until: datetime | None = None) -> None:
        """Say why, for a person, and until when if that is known."""
        super().__init__(words)
        self.failure = failure
        self.until = until

    def as_failure(self) -> WireFailure:
        """The same as a value."""
        return WireFailure(failure=self.failure, detail=str(self), retry_at=self.until)


def held_back(until: datetime, words: str) -> NotSent:
    """The request cannot leave soon enough: another time, from `until` on."""
    return NotSent(Failure.HELD_BACK, words, until)


def lease_lost() -> NotSent:
    """The job is somebody else's by now; nothing may be asked for it."""
    return NotSent(Failure.WORKER_DIED, "the worker was away for longer than its lease")


def refused_by_gate(answer: GateAnswer) -> NotSent:
    """A gate has changed its mind since it was asked."""
    return NotSent(answer.failure or Failure.HELD_BACK, answer.words, answer.until)
