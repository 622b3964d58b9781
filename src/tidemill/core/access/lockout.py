"""How long a name or an address is locked after wrong passwords: 1, 2, 4 .. 60 minutes from the fifth on."""

from datetime import datetime, timedelta

import msgspec

FREE_TRIES = 5
FIRST_LOCK = timedelta(minutes=1)
LONGEST_LOCK = timedelta(minutes=60)
FORGOTTEN_AFTER = timedelta(hours=24)
"""Wrong tries that are older count no more."""

_DOUBLINGS = 6  # 2**6 minutes is over the longest lock


class FailedTries(msgspec.Struct, frozen=True):
    """Wrong tries in a row, and when the last of them was."""

    count: int = 0
    last_at: datetime | None = None


def locked_until(tries: FailedTries, now: datetime) -> datetime | None:
    """Return until when no try is taken; None if one may be made now."""
    if tries.last_at is None or tries.count < FREE_TRIES:
        return None
    doublings = min(tries.count - FREE_TRIES, _DOUBLINGS)
    until = tries.last_at + min(FIRST_LOCK * 2**doublings, LONGEST_LOCK)
    return until if now < until else None


def after_wrong_try(tries: FailedTries, now: datetime) -> FailedTries:
    """Return the count after another wrong try; tries of long ago are forgotten."""
    old = tries.last_at is None or now - tries.last_at > FORGOTTEN_AFTER
    return FailedTries(1 if old else tries.count + 1, now)
