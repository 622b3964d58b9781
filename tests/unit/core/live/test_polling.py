"""When a page is polled next."""

from datetime import UTC, datetime, timedelta

import pytest

from tidemill.core.live.polling import (
    LiveUrgency,
    PollHistory,
    PollPolicy,
    after_error,
    after_poll,
    interval_for,
    recent_errors,
    urgency_of,
)
from tidemill.core.live.rules import Outlook, Phase

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
POLICY = PollPolicy()


def seconds(outlook: Outlook, history: PollHistory | None = None, policy: PollPolicy = POLICY) -> float:
    return interval_for(outlook, history or PollHistory(), policy, NOON).total_seconds()


@pytest.mark.shows("M2")
@pytest.mark.parametrize(
    ("outlook", "wanted"),
    [
        (Outlook(Phase.IN_PLAY), 2.5),
        (Outlook(Phase.UNKNOWN), 2.5),
        (Outlook(Phase.BREAK), 30),
        (Outlook(Phase.UPCOMING, NOON + timedelta(minutes=60)), 60),
        (Outlook(Phase.UPCOMING, NOON + timedelta(minutes=61)), 300),
        (Outlook(Phase.UPCOMING), 300),
        (Outlook(Phase.COMPLETED), 300),
    ],
)
@pytest.mark.inventory(47, 101)
def test_each_phase_has_its_interval(outlook: Outlook, wanted: float) -> None:
    assert seconds(outlook) == wanted


@pytest.mark.shows("M2")
def test_unchanged_polls_never_slow_a_thing_in_play() -> None:
    history = PollHistory()
    for _ in range(500):
        history = after_poll(history, changed=False)
    assert seconds(Outlook(Phase.IN_PLAY), history) == 2.5


@pytest.mark.shows("M2")
@pytest.mark.inventory(58)
def test_a_page_is_polled_sooner_when_over_half_of_its_polls_change() -> None:
    history = PollHistory()
    for turn in range(10):
        history = after_poll(history, changed=turn < 5)
    assert seconds(Outlook(Phase.IN_PLAY), history) == 2.5
    for _ in range(6):
        history = after_poll(history, changed=True)
    assert seconds(Outlook(Phase.IN_PLAY), history) == 2
    assert seconds(Outlook(Phase.IN_PLAY), history, PollPolicy(is_adaptive=False)) == 2.5
    assert seconds(Outlook(Phase.BREAK), history) == 30


@pytest.mark.shows("M2")
@pytest.mark.parametrize(("errors", "wanted"), [(4, 2.5), (5, 5), (9, 5), (10, 10), (19, 10), (20, 20), (200, 20)])
@pytest.mark.inventory(61)
def test_errors_slow_a_page(errors: int, wanted: float) -> None:
    history = PollHistory()
    for _ in range(errors):
        history = after_error(history, NOON)
    assert seconds(Outlook(Phase.IN_PLAY), history) == wanted
    assert seconds(Outlook(Phase.BREAK), history) == 30


@pytest.mark.shows("M2")
def test_five_quiet_minutes_make_errors_forgotten() -> None:
    history = PollHistory(errors=20, last_error_at=NOON)
    assert recent_errors(history, NOON + timedelta(minutes=4, seconds=59)) == 20
    assert interval_for(Outlook(Phase.IN_PLAY), history, POLICY, NOON + timedelta(minutes=5)) == POLICY.in_play
    assert after_error(history, NOON + timedelta(minutes=6)).errors == 1


@pytest.mark.shows("O3")
@pytest.mark.inventory(69)
def test_a_thing_is_live_imminent_or_of_the_rest() -> None:
    assert urgency_of(Outlook(Phase.BREAK), NOON) is LiveUrgency.LIVE
    assert urgency_of(Outlook(Phase.UPCOMING, NOON + timedelta(minutes=59)), NOON) is LiveUrgency.IMMINENT
    assert urgency_of(Outlook(Phase.UPCOMING, NOON + timedelta(hours=2)), NOON) is LiveUrgency.COMPLETED
    assert urgency_of(Outlook(Phase.COMPLETED), NOON) is LiveUrgency.COMPLETED
