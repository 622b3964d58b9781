"""Minutes that nobody counted, because we were down or busy: how they were is worked out afterwards, not guessed."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from tidemill.core.objectives.minutes import HourOfMinutes, LastMinute, hours_with, minutes_between
from tidemill.core.objectives.objective import Objective

WasBad = Callable[[datetime], Awaitable[bool]]


def missed_minutes(last: LastMinute | None, now: datetime, objective: Objective) -> list[datetime]:
    """Return the minutes that are to be counted now, at most an objective's period; only this one the first time."""
    after = now - objective.period if last is None or now - last.minute > objective.period else last.minute
    minutes = minutes_between(after, now)
    return minutes[-1:] if last is None else minutes


async def judged_hours(minutes: Sequence[datetime], last: LastMinute | None, was_bad: WasBad) -> list[HourOfMinutes]:
    """Judge minutes of which only the last is now.

    While nobody works, records only age: once bad, always bad. So the minute at which a gap turned bad is found by
    halving; one that was bad before and is good now was bad until now.
    """
    *earlier, present = minutes
    is_bad = await was_bad(present)
    before = last is not None and last.is_bad
    if is_bad and not before:
        turned = await _first_bad(earlier, was_bad)
        return hours_with(earlier[:turned], [*earlier[turned:], present])
    if before:
        return hours_with([] if is_bad else [present], [*earlier, present] if is_bad else earlier)
    return hours_with([*earlier, present], [])


async def _first_bad(minutes: Sequence[datetime], was_bad: WasBad) -> int:
    low, high = 0, len(minutes)
    while low < high:
        middle = (low + high) // 2
        if await was_bad(minutes[middle]):
            high = middle
        else:
            low = middle + 1
    return low
