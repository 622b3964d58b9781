import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from rig.clock import NOON
from tidemill.core.schedules import (
    Adaptive,
    BadSchedule,
    Cron,
    Every,
    Tier,
    adapted_interval,
    next_due,
    parse_schedule,
    slot_of,
    with_jitter,
)

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
TIERS = {"hot": timedelta(hours=6), "standard": timedelta(hours=12)}


@pytest.mark.shows("S2")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0 6 * * *", Cron("0 6 * * *")),
        ("@daily", Cron("0 0 * * *")),
        ("every 6h", Every(timedelta(hours=6))),
        ("every 2.5s", Every(timedelta(seconds=2.5))),
        ("every 0.25 s", Every(timedelta(milliseconds=250))),
        ("Every 90 s", Every(timedelta(seconds=90))),
        ("adaptive 1h-24h", Adaptive(timedelta(hours=1), timedelta(hours=24))),
        ("tier", Tier(None)),
        ("tier hot", Tier("hot")),
    ],
)
def test_schedules_are_read_as_people_write_them(text, meant):
    assert parse_schedule(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sometimes",
        "61 * * * *",
        "every 0h",
        "every 0.0s",
        "every 2.5.1s",
        "every .5s",
        "every 999999999d",
        "adaptive 2d-1h",
        "@fortnightly",
    ],
)
def test_a_schedule_nobody_can_follow_says_what_to_write(text):
    with pytest.raises(BadSchedule):
        parse_schedule(text)


def test_cron_is_read_in_the_sources_time_zone():
    due = next_due(Cron("0 6 * * *"), datetime(2026, 7, 1, 12, tzinfo=UTC), AMSTERDAM, {}, "")
    assert due == datetime(2026, 7, 2, 4, tzinfo=UTC)


def test_cron_keeps_its_local_hour_over_the_night_the_clocks_change():
    before = datetime(2026, 10, 24, 12, tzinfo=UTC)
    first = next_due(Cron("0 6 * * *"), before, AMSTERDAM, {}, "")
    assert first == datetime(2026, 10, 25, 5, tzinfo=UTC)


@pytest.mark.shows("S2")
def test_a_tier_sets_the_interval():
    assert next_due(Tier(None), NOON, AMSTERDAM, TIERS, "hot") == NOON + timedelta(hours=6)
    assert next_due(Tier("standard"), NOON, AMSTERDAM, TIERS, "hot") == NOON + timedelta(hours=12)


def test_an_unknown_tier_names_the_ones_there_are():
    with pytest.raises(BadSchedule, match="hot, standard"):
        next_due(Tier("warm"), NOON, AMSTERDAM, TIERS, "hot")


@pytest.mark.shows("S2")
def test_an_adaptive_interval_halves_after_a_change_and_grows_without_one():
    schedule = Adaptive(timedelta(hours=1), timedelta(hours=24))
    assert adapted_interval(schedule, timedelta(hours=8), changed=True) == timedelta(hours=4)
    assert adapted_interval(schedule, timedelta(hours=8), changed=False) == timedelta(hours=12)
    assert adapted_interval(schedule, timedelta(hours=1), changed=True) == timedelta(hours=1)
    assert adapted_interval(schedule, timedelta(hours=23), changed=False) == timedelta(hours=24)


@pytest.mark.shows("O5", "L2")
def test_starts_are_spread_over_a_minute():
    assert with_jitter(NOON, 0.5, timedelta(seconds=60)) == NOON + timedelta(seconds=30)


@pytest.mark.shows("B12")
def test_two_schedulers_agree_on_the_slot():
    period = timedelta(minutes=15)
    assert slot_of(NOON + timedelta(minutes=14, seconds=59), period) == NOON
    assert slot_of(NOON + timedelta(minutes=15), period) == NOON + period


def test_cron_agrees_with_the_public_suite_on_plain_five_field_lines(shared):
    cases = json.loads((shared / "schedule" / "cron.json").read_text())
    plain = [case for case in cases if isinstance(case["input"], dict) and "after" in case["input"]]
    plain = [case for case in plain if len(case["input"]["spec"].split()) == 5 and case["expected"]]
    wrong = [case["id"] for case in plain if due_after(case["input"]) != datetime.fromisoformat(case["expected"])]
    assert wrong == []


def due_after(given):
    zone = ZoneInfo(given["zone"] or "UTC")
    after = datetime.fromisoformat(given["after"])
    found = next_due(parse_schedule(given["spec"]), after.replace(tzinfo=after.tzinfo or zone), zone, {}, "")
    return found if after.tzinfo else found.astimezone(zone).replace(tzinfo=None)


def test_what_the_public_suite_calls_nonsense_is_refused(shared):
    cases = json.loads((shared / "schedule" / "cron.json").read_text())
    nonsense = [case["input"] for case in cases if isinstance(case["input"], str)]
    assert nonsense
    taken = [text for text in nonsense if accepts(text)]
    assert taken == []


def accepts(text):
    try:
        parse_schedule(text)
    except BadSchedule:
        return False
    return True


def test_slots_may_be_parts_of_a_second() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    period = timedelta(seconds=2.5)
    assert slot_of(noon + timedelta(seconds=4.9), period) == noon + timedelta(seconds=2.5)
    assert slot_of(noon + timedelta(seconds=5), period) == noon + timedelta(seconds=5)
