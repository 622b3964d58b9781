from datetime import timedelta

import msgspec
import pytest

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.core.policy import AGENDA, INVENTORY, LIVE, PRESETS, BadPolicy, contradictions, freshness_debt, validated

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("policy", PRESETS.values(), ids=lambda policy: policy.name)
def test_the_presets_do_not_contradict_themselves(policy):
    assert validated(policy) is policy


def broken(policy, **changes):
    return contradictions(msgspec.structs.replace(policy, **changes))


def test_records_must_outlive_two_scrapes():
    assert any("fade" in each for each in broken(INVENTORY, hidden_after=timedelta(hours=40)))


def test_a_snapshot_must_outlive_the_cycle():
    assert any("snapshot" in each for each in broken(LIVE, snapshot_ttl=timedelta(seconds=2)))


def test_a_job_may_not_count_as_stale_while_it_may_still_run():
    assert any("stale" in each for each in broken(AGENDA, stale_after=timedelta(minutes=10)))


def test_a_job_needs_time_for_its_time_outs():
    assert any("time-outs" in each for each in broken(AGENDA, job_limit=timedelta(seconds=60)))


def test_nothing_is_gone_before_a_complete_run_missed_it():
    assert any("complete run" in each for each in broken(AGENDA, missing_runs=0))


def test_a_contradiction_is_refused_with_its_name():
    with pytest.raises(BadPolicy, match="agenda"):
        validated(msgspec.structs.replace(AGENDA, missing_runs=0))


def test_a_host_whose_targets_outrun_its_pace_is_in_debt():
    assert freshness_debt(100, Pace(), timedelta(hours=1)) == timedelta(0)
    assert freshness_debt(3_600, Pace(), timedelta(hours=1)) == timedelta(hours=1)


@pytest.mark.shows("F3")
def test_what_an_actor_failed_at_is_tried_again_by_rules_of_its_own():
    timeout, limited = AGENDA.retry_for(Failure.TIMED_OUT, "apify"), AGENDA.retry_for(Failure.RATE_LIMITED, "apify")
    server, network = (
        AGENDA.retry_for(Failure.SERVER_ERROR, "apify"),
        AGENDA.retry_for(Failure.CONNECTION_LOST, "apify"),
    )
    assert timeout.attempts == 3
    assert waits(limited) == [5 * MINUTE, 5 * MINUTE, 5 * MINUTE]
    assert waits(server) == [MINUTE, 2 * MINUTE, 4 * MINUTE]
    assert waits(network) == [MINUTE / 2, MINUTE, 2 * MINUTE]
    assert AGENDA.retry_for(Failure.SERVER_ERROR, "http") == AGENDA.retry


def waits(policy):
    return [policy.wait(tries, 0.5) for tries in range(1, policy.attempts)]
