"""Why a request that was about to be sent must not be."""

from datetime import datetime

from tidemill.core.failure import Failure
from tidemill.core.gates import GateAnswer
from tidemill.pipeline.ports import WireFailure


class NotSent(Exception):
    """A request must not be sent; raised in `before_send` and passed on by the transport."""

    def __init__(self, failure: Failure, words: str, until: datetime | None = None) -> None:
        """Explain to a person why, and until when if that is known."""
        super().__init__(words)
        self.failure = failure
        self.until = until

    def as_failure(self) -> WireFailure:
        """Return the same as a value."""
        return WireFailure(failure=self.failure, detail=str(self), retry_at=self.until)


def held_back(until: datetime, words: str) -> NotSent:
    """Return the exception for a request that cannot be sent soon enough; it may be tried again from `until` on."""
    return NotSent(Failure.HELD_BACK, words, until)


def lease_lost() -> NotSent:
    """Return the exception for a job that another worker holds by now."""
    return NotSent(Failure.WORKER_DIED, "the worker was away for longer than its lease")


def refused_by_gate(answer: GateAnswer) -> NotSent:
    """Return the exception for a gate that refuses what it allowed before."""
    return NotSent(answer.failure or Failure.HELD_BACK, answer.words, answer.until)
