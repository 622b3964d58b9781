from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.failure import MEANING, Failure
from tidemill.core.job import Job, JobStatus, Urgency, breaker_signal, transition_for
from tidemill.core.outcome import Advance, Fail, Snooze, Stage
from tidemill.core.policy import AGENDA

JOB = Job(
    id=1, run_id=2, source_id=3, target_id=4, vertical="events", lane="http", host="example.nl",
    url="https://example.nl/agenda", fence=5,
)  # fmt: skip


def moved(outcome, attempts=0, stage=Stage.FETCH):
    job = Job(
        id=1, run_id=2, source_id=3, target_id=4, vertical="events", lane="http", host="example.nl",
        url="https://example.nl/agenda", attempts=attempts, stage=stage,
    )  # fmt: skip
    return transition_for(job, outcome, AGENDA, NOON, 1.0)


def test_every_failure_has_a_row_in_the_table():
    assert set(MEANING) == set(Failure)


@pytest.mark.shows("F5")
def test_a_refusal_never_trips_a_breaker_nor_counts_as_drift():
    refusals = [meaning for meaning in MEANING.values() if meaning.is_refusal]
    assert refusals
    assert not any(meaning.retry or meaning.trips_breaker or meaning.is_drift for meaning in refusals)


def test_advancing_keeps_the_lease_and_starts_the_next_stage_afresh():
    step = moved(Advance(Stage.PARSE, None), attempts=2)
    assert (step.status, step.stage, step.attempts, step.ends) == (JobStatus.LEASED, Stage.PARSE, 0, False)


def test_the_last_stage_ends_the_job():
    step = moved(Advance(Stage.COMPLETED, None), stage=Stage.PERSIST)
    assert (step.status, step.stage, step.ends) == (JobStatus.DONE, Stage.COMPLETED, True)


@pytest.mark.shows("O3")
def test_a_snooze_spends_no_attempt():
    until = NOON + timedelta(hours=1)
    step = moved(Snooze(until, "the breaker is open"), attempts=1)
    assert (step.status, step.attempts, step.not_before, step.ends) == (JobStatus.WAITING, 1, until, False)


def test_a_failure_worth_retrying_waits_at_its_own_stage():
    step = moved(Fail(Failure.TIMED_OUT), stage=Stage.FETCH)
    assert (step.status, step.stage, step.attempts) == (JobStatus.WAITING, Stage.FETCH, 1)
    assert step.not_before == NOON + timedelta(seconds=1)


@pytest.mark.shows("F3")
def test_a_retry_obeys_the_sites_retry_after():
    step = moved(Fail(Failure.RATE_LIMITED, retry_after=timedelta(minutes=9)))
    assert step.not_before == NOON + timedelta(minutes=9)


@pytest.mark.shows("R2")
@pytest.mark.inventory(78)
def test_the_third_failure_is_a_dead_letter():
    step = moved(Fail(Failure.SERVER_ERROR, "500"), attempts=2)
    assert (step.status, step.stage, step.attempts) == (JobStatus.DEAD, Stage.DEAD_LETTER, 3)
    assert step.failure is Failure.SERVER_ERROR


@pytest.mark.shows("R2")
def test_what_no_retry_can_mend_is_a_dead_letter_at_once():
    assert moved(Fail(Failure.LAYOUT_CHANGED)).status is JobStatus.DEAD


@pytest.mark.shows("F5")
def test_a_refusal_ends_the_job_as_a_drop():
    step = moved(Fail(Failure.ROBOTS_DISALLOWED))
    assert (step.status, step.stage, step.ends) == (JobStatus.REFUSED, Stage.COMPLETED, True)


@pytest.mark.shows("O3")
@pytest.mark.inventory(77)
def test_live_goes_before_imminent_before_the_rest():
    assert sorted(Urgency, key=lambda each: each.rank) == [Urgency.LIVE, Urgency.IMMINENT, Urgency.NORMAL]


@pytest.mark.parametrize(
    ("stage", "outcome", "says"),
    [
        (Stage.FETCH, Advance(Stage.PARSE, None), None),
        (Stage.FETCH, Advance(Stage.COMPLETED, None), True),
        (Stage.FETCH, Fail(Failure.TIMED_OUT), False),
        (Stage.FETCH, Fail(Failure.NOT_FOUND), True),
        (Stage.FETCH, Fail(Failure.ROBOTS_DISALLOWED), None),
        (Stage.FETCH, Snooze(NOON, "later"), None),
        (Stage.PARSE, Fail(Failure.BLOCKED_PAGE), False),
        (Stage.PARSE, Fail(Failure.LAYOUT_CHANGED), True),
        (Stage.PARSE, Advance(Stage.NORMALIZE, None), True),
        (Stage.NORMALIZE, Advance(Stage.PERSIST, None), None),
        (Stage.PERSIST, Fail(Failure.WRITE_FAILED), None),
    ],
)
def test_what_an_answer_says_about_its_source(stage, outcome, says):
    assert breaker_signal(stage, outcome) is says
