"""A stand-in for a service that expects a call every minute, and raises the alarm when none comes."""

from datetime import datetime, timedelta

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply
from tidemill.lab.standins.unwell import FAULTS


class PingedStandin:
    """Notes every call; `is_alarmed` tells whether they stopped."""

    def __init__(self, grace: timedelta = timedelta(minutes=5)) -> None:
        """Silence for longer than `grace` is an alarm."""
        self._grace = grace
        self.calls: list[datetime] = []
        self.fault = StandinFault.NONE

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Note the call."""
        del call
        if self.fault is not StandinFault.NONE:
            return FAULTS[self.fault]
        self.calls.append(now)
        return StandinReply(200, b"OK")

    def is_alarmed(self, now: datetime) -> bool:
        """Return whether the calls have stopped."""
        return not self.calls or now - self.calls[-1] > self._grace
