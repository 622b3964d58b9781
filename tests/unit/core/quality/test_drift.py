"""Drift, judged run by run: what counts, what does not, and what two bad batches in a row lead to."""

import pytest

from tidemill.core.quality.drift import (
    Baseline,
    DriftRule,
    DriftStrikes,
    baseline_of,
    judge_fields,
    judge_run,
)
from tidemill.core.run import Counts

GOOD = Counts(urls_succeeded=20, records_read=20, records_accepted=20)
BROKEN = Counts(urls_succeeded=5, urls_failed=15, urls_drifted=15, records_read=5, records_accepted=5)
DOWN = Counts(urls_succeeded=5, urls_failed=15, records_read=5, records_accepted=5)
EMPTY = Counts(urls_succeeded=20)
ZERO = Counts(
    urls_succeeded=19, urls_failed=1, urls_drifted=1, records_read=20, records_accepted=19, zero_price_count=1
)


CLEAN, NEW = DriftStrikes(), Baseline()


def rules(counts: Counts, standing: DriftStrikes = CLEAN, baseline: Baseline = NEW) -> set[tuple[str, bool]]:
    return {(each.rule.value, each.disables) for each in judge_run(counts, standing, baseline).findings}


@pytest.mark.shows("R5")
def test_one_bad_batch_alerts_and_two_in_a_row_disable():
    once = judge_run(BROKEN, DriftStrikes(), Baseline())
    assert rules(BROKEN) == {("failures", False)}
    assert rules(BROKEN, once.strikes) == {("failures", True)}
    assert judge_run(GOOD, once.strikes, Baseline()).strikes == DriftStrikes()


@pytest.mark.shows("R5")
def test_a_site_that_is_down_alerts_and_never_disables():
    twice = judge_run(DOWN, judge_run(DOWN, DriftStrikes(), Baseline()).strikes, Baseline())
    assert [each.disables for each in twice.findings] == [False]


@pytest.mark.shows("R5")
def test_a_small_batch_says_nothing_however_bad():
    small = Counts(urls_failed=19, urls_drifted=19)
    assert judge_run(small, DriftStrikes(failed_batches=1), Baseline()).strikes == DriftStrikes(failed_batches=1)
    assert rules(small) == set()


@pytest.mark.shows("R5")
@pytest.mark.parametrize(("failed", "bad"), [(10, False), (11, True)])
def test_half_is_not_yet_over_half(failed, bad):
    counts = Counts(urls_succeeded=20 - failed, urls_failed=failed, urls_drifted=failed, records_read=5)
    assert bool(rules(counts)) is bad


@pytest.mark.shows("R5")
def test_no_records_in_two_runs_disable():
    once = judge_run(EMPTY, DriftStrikes(), Baseline()).strikes
    assert rules(EMPTY) == set()
    assert rules(EMPTY, once) == {("no_records", True)}


@pytest.mark.shows("R5")
def test_pages_that_did_not_change_were_read_well_when_they_came():
    same = Counts(urls_succeeded=25, pages_unchanged=25)
    assert rules(same, DriftStrikes(empty_runs=1), Baseline(0.0, 1.0, 3)) == set()


@pytest.mark.shows("R5")
def test_a_zero_price_is_told_of_at_once_and_disables_the_second_time_in_large_runs():
    small = Counts(urls_succeeded=2, urls_failed=1, records_read=3, zero_price_count=1)
    assert rules(small) == {("zero_price", False)}
    assert rules(small, DriftStrikes(zero_price_runs=1)) == {("zero_price", False)}
    once = judge_run(ZERO, DriftStrikes(), Baseline()).strikes
    assert rules(ZERO) == {("zero_price", False)}
    assert rules(ZERO, once) == {("zero_price", True)}


@pytest.mark.shows("R5")
def test_products_sold_out_without_a_price_count_neither_for_nor_against():
    shy = Counts(urls_succeeded=25, records_read=25, records_dropped=25, oos_no_price_count=25)
    assert judge_run(shy, DriftStrikes(failed_batches=1, empty_runs=1), Baseline()).findings == ()
    assert judge_run(shy, DriftStrikes(failed_batches=1), Baseline()).strikes == DriftStrikes(failed_batches=1)
    mixed = Counts(urls_succeeded=29, urls_failed=11, urls_drifted=11, records_read=29, oos_no_price_count=20)
    assert rules(mixed) == {("failures", False)}


@pytest.mark.shows("R5")
def test_the_first_run_after_a_persons_word_is_watched_whatever_its_size():
    watched = DriftStrikes(watched=True)
    bad = Counts(urls_succeeded=1, urls_failed=2, urls_drifted=2, records_read=1, records_accepted=1)
    assert rules(bad, watched) == {("watched", True)}
    assert judge_run(GOOD, watched, Baseline()).strikes == DriftStrikes()
    nothing = judge_run(Counts(urls_refused=5), watched, Baseline())
    assert nothing.strikes == watched


@pytest.mark.shows("R5")
def test_a_baseline_takes_three_batches_and_leaves_small_and_bad_ones_out():
    small = Counts(urls_succeeded=3, records_accepted=3)
    assert not baseline_of([GOOD, GOOD, small, BROKEN]).is_established
    assert baseline_of([GOOD, GOOD, GOOD, BROKEN]) == Baseline(0.0, 1.0, 3)


@pytest.mark.shows("R5")
def test_what_is_bad_by_its_own_measure_is_told_once_a_baseline_stands():
    poor = Counts(urls_succeeded=13, urls_failed=7, urls_drifted=7, records_read=13, records_accepted=13)
    assert rules(poor) == set()
    assert rules(poor, baseline=Baseline(0.0, 1.0, 3)) == {("worse_than_usual", False)}
    assert rules(poor, baseline=Baseline(0.0, 1.0, 2)) == set()


@pytest.mark.shows("B7")
@pytest.mark.parametrize(("present", "alarms"), [(96, False), (95, True), (100, False), (0, True)])
def test_a_field_five_points_off_what_was_blessed_alarms(present, alarms):
    found = judge_fields({"*": 100, "price": present}, {"price": 1.0})
    assert [(each.rule, each.field) for each in found] == ([(DriftRule.FIELD_SHARE, "price")] if alarms else [])


@pytest.mark.shows("B7")
def test_an_unblessed_source_and_a_handful_of_records_are_not_broken():
    assert judge_fields({"*": 100}, {}) == ()
    assert judge_fields({"*": 19}, {"price": 1.0}) == ()
