from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.clock import NOON
from tidemill.core.admission import QueueLimits, admit
from tidemill.core.breaker import Breaker, BreakerPolicy, Closed, Open, Probing, ask, failed, succeeded
from tidemill.core.failure import Failure
from tidemill.core.identity import fingerprint, normalized
from tidemill.core.job import Job, JobStatus, transition_for
from tidemill.core.outcome import Fail, Stage
from tidemill.core.pacing import Pace, charged, opens_at, requests_allowed
from tidemill.core.policy import PRESETS
from tidemill.core.retry import Jitter, RetryPolicy, next_wait

rolls = st.floats(0, 1, exclude_max=True)
spans = st.timedeltas(timedelta(0), timedelta(hours=2))
policies = st.builds(
    RetryPolicy, st.integers(1, 9), st.timedeltas(timedelta(0), timedelta(minutes=5)), spans, st.sampled_from(Jitter)
)


@pytest.mark.shows("F3")
@given(policies, st.integers(1, 10_000), rolls)
def test_a_wait_never_exceeds_twice_the_longest(policy, tries, roll):
    assert timedelta(0) <= policy.wait(tries, roll) <= 2 * policy.longest


@pytest.mark.shows("F3")
@given(policies, rolls)
def test_attempts_are_bounded(policy, roll):
    waits = [next_wait(policy, tries, roll, None) for tries in range(1, policy.attempts + 1)]
    assert waits[-1] is None
    assert None not in waits[:-1]


@pytest.mark.shows("R1")
@given(trips=st.integers(min_value=0))
def test_a_cooldown_never_exceeds_the_longest(trips):
    assert BreakerPolicy().cooldown_after(trips) <= BreakerPolicy().longest_cooldown


@pytest.mark.shows("R1")
@given(st.lists(st.tuples(st.sampled_from(["ask", "well", "bad"]), st.integers(0, 7_200)), max_size=60))
def test_whatever_happens_no_two_probes_are_out_at_once(steps):
    breaker: Breaker = Closed()
    policy, now, out = BreakerPolicy(), NOON, 0
    for what, seconds in steps:
        now += timedelta(seconds=seconds)
        if isinstance(breaker, Probing) and breaker.deadline is not None and now >= breaker.deadline:
            out = 0  # given up
        if what == "ask":
            was_closed = isinstance(breaker, Closed)
            breaker, admitted = ask(breaker, policy, now)
            out += admitted and not was_closed
        else:
            breaker = succeeded(breaker, policy) if what == "well" else failed(breaker, policy, now)
            out = 0 if not isinstance(breaker, Probing) else out
        assert out <= 1
        assert not isinstance(breaker, Open) or breaker.until > now - timedelta(hours=24)


paces = st.builds(
    Pace, st.timedeltas(timedelta(milliseconds=1), timedelta(seconds=60)), st.integers(1, 5), st.integers(1, 5)
)


@pytest.mark.shows("F6")
@given(paces, st.lists(st.timedeltas(timedelta(0), timedelta(seconds=90)), min_size=1, max_size=80))
def test_no_window_ever_holds_more_requests_than_the_pace_allows(pace, gaps):
    booked_until, now, sent = None, NOON, []
    for gap in gaps:
        now += gap
        count = requests_allowed(pace, booked_until, 0, now)
        if count:
            booked_until = charged(pace, booked_until, count, now)
            sent.extend([now] * count)
    for first, start in enumerate(sent):
        for count, moment in enumerate(sent[first:], 1):
            assert count <= pace.burst + (moment - start) / pace.interval + 1e-6


@pytest.mark.shows("F6")
@given(paces, st.integers(1, 5))
def test_a_host_opens_exactly_when_one_more_request_fits(pace, asked):
    booked_until = charged(pace, None, min(asked, pace.burst), NOON)
    moment = opens_at(pace, booked_until, NOON)
    assert requests_allowed(pace, booked_until, 0, moment) >= 1
    if moment > NOON:
        assert requests_allowed(pace, booked_until, 0, moment - timedelta(microseconds=500)) == 0


@pytest.mark.shows("O4")
@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(0, 20_000))
def test_admission_never_overfills_and_drops_nothing_silently(wanted, adapter, total):
    limits = QueueLimits()
    answer = admit(wanted, adapter, total, limits)
    assert answer.accepted + answer.rejected == wanted
    assert answer.accepted == 0 or adapter + answer.accepted <= limits.per_adapter
    assert answer.accepted == 0 or total + answer.accepted <= limits.total
    assert (answer.rejected > 0) == (answer.retry_after is not None)


@given(st.sampled_from(Failure), st.integers(0, 50), st.sampled_from(list(PRESETS.values())), rolls)
def test_every_failure_leads_somewhere_and_none_for_ever(failure, attempts, policy, roll):
    job = Job(
        id=1, run_id=1, source_id=1, target_id=1, vertical="v", lane="http", host="h", url="u", attempts=attempts
    )  # fmt: skip
    step = transition_for(job, Fail(failure), policy, NOON, roll)
    assert step.status in {JobStatus.WAITING, JobStatus.REFUSED, JobStatus.DEAD}
    assert (step.status is JobStatus.WAITING) == (step.not_before is not None)
    assert attempts < 10 or step.status is not JobStatus.WAITING
    assert step.ends == (step.stage in {Stage.COMPLETED, Stage.DEAD_LETTER})


@pytest.mark.shows("E3")
@given(st.text(), st.text(min_size=1))
def test_a_fingerprint_tells_its_parts_apart(left, right):
    assert fingerprint(left, right) == fingerprint(left, right)
    assert ("\x1f" in left + right) or fingerprint(left, right) != fingerprint(left + right, "")


@pytest.mark.shows("E3")
@given(st.text())
def test_normalizing_for_identity_twice_changes_nothing(text):
    assert normalized(normalized(text)) == normalized(text)
