from datetime import timedelta

from msgspec.structs import replace

from rig.clock import NOON
from tidemill.pipeline.happenings import Happening
from tidemill.telemetry.process import process_usage
from tidemill.telemetry.rates import RateCounter, Rates
from tidemill.telemetry.recent_happenings import RecentHappenings
from unit.telemetry import announced


def at(seconds: float, happening: Happening) -> Happening:
    return replace(happening, at=NOON + timedelta(seconds=seconds))


def test_the_pulse_counts_pages_and_errors_by_minute_and_hour() -> None:
    rate_counter = RateCounter()
    for happening in (
        at(-3700, announced.DEAD), at(-600, announced.DEAD), at(-600, announced.PAGE_GOT), at(-30, announced.RETRIED),
        at(-30, announced.SNOOZED), at(-1, announced.PAGE_GOT), at(-1, announced.TROUBLE),
    ):  # fmt: skip
        rate_counter.count(happening)
    rates = rate_counter.rates(NOON)
    assert (rates.errors_last_minute, rates.errors_last_hour) == (2, 3)
    assert (rates.pages_last_minute, rates.pages_last_hour) == (1, 2)
    assert (rates.average_ms, rates.p95_ms) == (120.0, 120.0)


def test_a_silent_pulse_is_all_noughts() -> None:
    assert RateCounter().rates(NOON) == Rates()


def test_the_pulse_forgets_what_is_over_an_hour_old() -> None:
    rate_counter = RateCounter()
    for second in range(0, 20_000, 2):
        rate_counter.count(at(second, announced.PAGE_GOT))
    assert len(rate_counter._seconds) <= 3_602
    assert rate_counter.rates(NOON + timedelta(seconds=20_000)).pages_last_minute == 30


def test_the_newest_come_first_and_the_oldest_go() -> None:
    recent = RecentHappenings(keep=2)
    for happening in (announced.RUN_OPENED, announced.STAGE_DONE, announced.DEAD, announced.RUN_CLOSED):
        recent.add(happening)
    assert recent.latest() == [announced.RUN_CLOSED, announced.DEAD]
    assert recent.latest(1) == [announced.RUN_CLOSED]


def test_this_process_uses_something() -> None:
    used = process_usage()
    assert 0 < used.memory_mb <= used.peak_memory_mb + 50
    assert used.cpu_seconds > 0


def test_the_pulse_knows_when_each_safety_mechanism_last_fired() -> None:
    rate_counter = RateCounter()
    assert set(rate_counter.last_fired().values()) == {None}
    rate_counter.count(announced.OPENED_BREAKER)
    rate_counter.count(at(5, announced.RESCUED))
    assert rate_counter.last_fired()["breaker"] == NOON
    assert rate_counter.last_fired()["rescue"] == NOON + timedelta(seconds=5)
    assert rate_counter.last_fired()["fence"] is None
