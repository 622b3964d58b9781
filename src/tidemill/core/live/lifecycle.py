"""A watched thing's life: discovered, active, paused, completed, archived, and what moves it."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.live.rules import Phase


class Lifecycle(StrEnum):
    """Where a watched thing stands; the value is what the database and readers see."""

    DISCOVERED = "DISCOVERED"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    ARCHIVED = "ARCHIVED"


WATCHED = (Lifecycle.DISCOVERED, Lifecycle.ACTIVE, Lifecycle.PAUSED, Lifecycle.COMPLETED)
"""The states of a thing that is watched; an archived one is taken up again when a list names it."""


class LifecyclePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """When a thing is paused and for how long, when its absence means its end, when it is archived."""

    failures_to_pause: int = 5
    pause: timedelta = timedelta(seconds=300)
    lists_to_complete: int = 2
    archive_after: timedelta = timedelta(hours=24)


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """A thing's state, since when, and what the next move depends on.

    `failures` counts tries in a row without one good reading by any site; `missed_lists` the complete lists in a row
    that did not name it.
    """

    state: Lifecycle = Lifecycle.DISCOVERED
    since: datetime
    failures: int = 0
    missed_lists: int = 0
    paused_until: datetime | None = None


class Move(msgspec.Struct, frozen=True):
    """One move of a thing's life, and why."""

    before: Lifecycle
    after: Lifecycle
    at: datetime
    reason: str


def after_reading(life: Life, phase: Phase, now: datetime) -> tuple[Life, Move | None]:
    """Return the life after a good reading: active, or completed if the thing has ended for good."""
    calm = msgspec.structs.replace(life, failures=0, paused_until=None)
    if phase is Phase.COMPLETED:
        wanted, reason = Lifecycle.COMPLETED, "the source says that it has ended"
    elif life.state is Lifecycle.COMPLETED and (life.missed_lists or phase is Phase.UNKNOWN):
        return calm, None
    else:
        wanted, reason = Lifecycle.ACTIVE, _active_reason(life.state)
    if life.state in {wanted, Lifecycle.ARCHIVED}:
        return calm, None
    return _moved(calm, wanted, now, reason)


def after_failure(life: Life, policy: LifecyclePolicy, now: datetime) -> tuple[Life, Move | None]:
    """Return the life after a failed try; the fifth in a row pauses it, and each failed try of a paused one again."""
    worse = msgspec.structs.replace(life, failures=life.failures + 1)
    if worse.failures < policy.failures_to_pause or life.state not in {
        Lifecycle.DISCOVERED,
        Lifecycle.ACTIVE,
        Lifecycle.PAUSED,
    }:
        return worse, None
    held = msgspec.structs.replace(worse, paused_until=now + policy.pause)
    if life.state is Lifecycle.PAUSED:
        return held, None
    return _moved(held, Lifecycle.PAUSED, now, f"{worse.failures} failures in a row")


def after_list(life: Life, policy: LifecyclePolicy, *, is_named: bool, now: datetime) -> tuple[Life, Move | None]:
    """Return the life after a complete list: absence from two in a row completes it, and naming it takes it up again.

    A thing whose source said that it has ended stays completed while lists still name it.
    """
    if is_named:
        return _named(life, now)
    missed = msgspec.structs.replace(life, missed_lists=life.missed_lists + 1)
    if missed.missed_lists < policy.lists_to_complete or life.state not in {Lifecycle.ACTIVE, Lifecycle.PAUSED}:
        return missed, None
    return _moved(missed, Lifecycle.COMPLETED, now, f"absent from {missed.missed_lists} complete lists in a row")


def after_time(life: Life, policy: LifecyclePolicy, now: datetime) -> tuple[Life, Move | None]:
    """Return the life after time has passed: a completed thing is archived a day later."""
    if life.state is Lifecycle.COMPLETED and now - life.since >= policy.archive_after:
        return _moved(life, Lifecycle.ARCHIVED, now, f"completed for {policy.archive_after}")
    if life.state is Lifecycle.DISCOVERED and life.missed_lists and now - life.since >= policy.archive_after:
        return _moved(life, Lifecycle.ARCHIVED, now, "never read, and no list names it any more")
    return life, None


def may_try(life: Life, now: datetime) -> bool:
    """Return whether a thing's pages may be polled: a paused one only when its pause is over."""
    return life.paused_until is None or now >= life.paused_until


def _named(life: Life, now: datetime) -> tuple[Life, Move | None]:
    seen = life if not life.missed_lists else msgspec.structs.replace(life, missed_lists=0)
    if life.state is Lifecycle.ARCHIVED:
        return _moved(seen, Lifecycle.DISCOVERED, now, "a list names it again")
    if life.state is Lifecycle.COMPLETED and life.missed_lists:
        return _moved(seen, Lifecycle.ACTIVE, now, "a list names it again")
    return seen, None


def _active_reason(state: Lifecycle) -> str:
    match state:
        case Lifecycle.DISCOVERED:
            return "the first good reading"
        case Lifecycle.PAUSED:
            return "read well again"
        case _:
            return "the source says that it goes on"


def _moved(life: Life, to: Lifecycle, now: datetime, reason: str) -> tuple[Life, Move]:
    after = msgspec.structs.replace(
        life, state=to, since=now, paused_until=life.paused_until if to is Lifecycle.PAUSED else None
    )
    return after, Move(life.state, to, now, reason)
