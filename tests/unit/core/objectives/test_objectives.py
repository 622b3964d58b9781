"""Objectives: minutes are counted once, budgets are known to the minute, and burning is told at its moments."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.clock import NOON
from tidemill.core.alerts.table import AlertName
from tidemill.core.objectives.burn import budget, burn_rates, burning
from tidemill.core.objectives.catching_up import judged_hours, missed_minutes
from tidemill.core.objectives.exclusion import ScheduledSource, exclusion, longest_pause
from tidemill.core.objectives.minutes import (
    HourOfMinutes,
    LastMinute,
    MinuteCounts,
    count_minutes,
    hours_with,
    last_minute,
    minutes_between,
)
from tidemill.core.objectives.objective import CheckedRecords, Objective, is_bad

pytestmark = pytest.mark.shows("X4")

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
OBJECTIVE = Objective(vertical="events", within=6 * HOUR)
MONTH = NOON + 28 * DAY


def minutes(begin: datetime, count: int) -> list[datetime]:
    return [begin + MINUTE * place for place in range(count)]


def month_with(bad: Iterable[datetime]) -> list[HourOfMinutes]:
    failed = set(bad)
    return hours_with([each for each in minutes(NOON, 28 * 1440) if each not in failed], failed)


def test_the_budget_of_a_scripted_month_is_known_to_the_minute() -> None:
    bad = [*minutes(NOON + 3 * DAY, 100), *minutes(NOON + 9 * DAY + 17 * MINUTE, 61), *minutes(MONTH - 3 * HOUR, 7)]
    month = month_with(bad)
    stands = budget(month, OBJECTIVE, MONTH - MINUTE)
    assert stands.allowed == pytest.approx(403.2)
    assert (stands.bad, stands.counted) == (168, 40_320)
    assert stands.left == pytest.approx(235.2)
    assert stands.share_left == pytest.approx(235.2 / 403.2)
    a_minute_in = budget(month, OBJECTIVE, MONTH + 3 * DAY)
    assert a_minute_in.bad == 167
    assert budget(month, OBJECTIVE, MONTH + 3 * DAY + 98 * MINUTE).bad == 69
    assert budget(month, OBJECTIVE, MONTH + 3 * DAY + 99 * MINUTE).bad == 68


def test_burning_is_told_at_its_moments() -> None:
    begins = NOON + 2 * DAY
    moments: dict[AlertName, int] = {}
    for lasted in range(1, 61):
        hours = hours_with(minutes(NOON, 2 * 1440), minutes(begins, lasted))
        for alert in burning(burn_rates(hours, OBJECTIVE, begins + (lasted - 1) * MINUTE)):
            moments.setdefault(alert, lasted)
    assert moments == {
        AlertName.OBJECTIVE_FAST_BURN: 9,  # 14.4 x 1 % of an hour is 8.64 minutes
        AlertName.OBJECTIVE_BURN: 22,  # 6 x 1 % of six hours is 21.6
        AlertName.OBJECTIVE_SLOW_BURN: 44,  # 1 % of three days is 43.2
    }


def test_a_burn_ends_with_its_short_window() -> None:
    begins = NOON + 2 * DAY
    hours = hours_with(minutes(NOON, 2 * 1440), minutes(begins, 20))
    over = begins + 20 * MINUTE
    assert AlertName.OBJECTIVE_FAST_BURN in burning(burn_rates(hours, OBJECTIVE, over + 3 * MINUTE))
    assert AlertName.OBJECTIVE_FAST_BURN not in burning(burn_rates(hours, OBJECTIVE, over + 4 * MINUTE))


def test_minutes_that_nobody_looked_at_burn_nothing() -> None:
    assert burning(burn_rates(hours_with([], minutes(NOON, 5)), OBJECTIVE, NOON + 4 * MINUTE)) == []
    assert set(burn_rates([], OBJECTIVE, NOON).values()) == {0}


@given(bad=st.sets(st.integers(0, 299)), begin=st.integers(0, 299), span=st.integers(1, 200))
def test_counting_is_what_counting_one_by_one_says(bad: set[int], begin: int, span: int) -> None:
    start = NOON + 23 * MINUTE
    hours = hours_with(
        (start + MINUTE * place for place in range(300) if place not in bad), (start + MINUTE * place for place in bad)
    )
    now, window = start + MINUTE * begin, range(begin - span + 1, begin + 1)
    mine = [place for place in window if 0 <= place < 300]
    expected = MinuteCounts(len(mine), len([place for place in mine if place in bad]))
    assert count_minutes(hours, now + timedelta(seconds=59), span * MINUTE) == expected


def test_a_minute_is_good_from_the_very_share_on() -> None:
    assert not is_bad(CheckedRecords(100, 95), OBJECTIVE)
    assert is_bad(CheckedRecords(100, 94), OBJECTIVE)
    assert not is_bad(CheckedRecords(0, 0), OBJECTIVE)
    assert is_bad(CheckedRecords(1, 0), OBJECTIVE)


def test_the_last_minute_of_an_hour_is_the_highest_bit() -> None:
    (row,) = hours_with([NOON], [NOON + 7 * MINUTE])
    assert last_minute(row) == LastMinute(NOON + 7 * MINUTE, is_bad=True)
    assert last_minute(HourOfMinutes(NOON)) is None
    assert last_minute(None) is None


async def judged(gap: int, bad_from: int | None, last: LastMinute | None) -> tuple[list[HourOfMinutes], int]:
    asked = 0

    async def was_bad(moment: datetime) -> bool:
        nonlocal asked
        asked += 1
        return bad_from is not None and moment >= NOON + MINUTE * bad_from

    return await judged_hours(minutes_between(NOON, NOON + MINUTE * gap), last, was_bad), asked


@given(gap=st.integers(1, 3_000), bad_from=st.integers(1, 3_000))
async def test_the_minute_at_which_a_gap_turned_bad_is_found_in_a_few_questions(gap: int, bad_from: int) -> None:
    hours, asked = await judged(gap, bad_from, LastMinute(NOON, is_bad=False))
    counts = count_minutes(hours, NOON + MINUTE * gap, DAY * 3)
    assert counts == MinuteCounts(gap, max(0, gap - bad_from + 1))
    assert asked <= 14


async def test_a_gap_that_was_bad_stays_bad_until_a_good_minute_is_seen() -> None:
    hours, _ = await judged(90, None, LastMinute(NOON, is_bad=True))
    assert count_minutes(hours, NOON + 90 * MINUTE, DAY) == MinuteCounts(90, 89)
    hours, _ = await judged(90, 1, LastMinute(NOON, is_bad=True))
    assert count_minutes(hours, NOON + 90 * MINUTE, DAY) == MinuteCounts(90, 90)


def test_what_is_missed_is_counted_once_and_never_more_than_the_period() -> None:
    assert missed_minutes(None, NOON, OBJECTIVE) == [NOON]
    assert missed_minutes(LastMinute(NOON, is_bad=False), NOON + timedelta(seconds=30), OBJECTIVE) == []
    assert missed_minutes(LastMinute(NOON, is_bad=False), NOON + 2 * MINUTE, OBJECTIVE) == minutes(NOON + MINUTE, 2)
    assert len(missed_minutes(LastMinute(NOON - 90 * DAY, is_bad=False), NOON, OBJECTIVE)) == 28 * 1440


@pytest.mark.parametrize(
    ("schedule", "hours"),
    [("0 6 * * *", 24), ("0 6 * * 0", 168), ("every 6h", 6), ("adaptive 48h-144h", 144), ("0 9 * * 1-5", 72),
     ("tier hot", 1), ("@hourly", 1)],
)  # fmt: skip
def test_the_longest_pause_of_a_schedule(schedule: str, hours: float) -> None:
    assert longest_pause(schedule, NOON, "UTC", {"hot": HOUR}, "") == hours * HOUR


def test_whoever_cannot_keep_an_objective_by_design_is_left_out_with_the_reason() -> None:
    def why(**fields: object) -> str:
        source = ScheduledSource(**{"id": 1, "name": "a", "is_on": True, "schedules": [""], **fields})  # type: ignore[arg-type]
        left_out = exclusion(source, 25 * HOUR, "0 6 * * *", {}, NOON)
        return left_out.reason if left_out else ""

    assert why() == ""
    assert why(is_on=False) == "switched off"
    assert why(schedules=[]) == "no target is switched on"
    assert why(schedules=["0 6 * * 0"]) == "its schedule leaves 168 h between two runs"
    assert why(schedules=["0 6 * * 0", "every 6h"]) == ""
    assert why(schedules=["nonsense"]) == ""
