import pytest

from tidemill.core.quality.completeness import RunEvidence, certify
from tidemill.core.run import Counts, RunStatus, final_status

pytestmark = pytest.mark.shows("X6")


def evidence(**changes):
    facts = {"counts": Counts(urls_succeeded=3), "targets": 3, "records_seen": 40, "history": (40, 42, 38)}
    return RunEvidence(**{**facts, **changes})


def doubts(**changes):
    return [doubt.rule for doubt in certify(evidence(**changes)).doubts]


def test_a_run_that_saw_every_page_and_the_usual_count_is_complete():
    assert certify(evidence()).complete


def test_a_page_that_did_not_answer_is_a_doubt():
    assert doubts(counts=Counts(urls_succeeded=2, urls_failed=1)) == ["pages"]


def test_a_source_without_targets_certifies_nothing():
    assert doubts(targets=0, counts=Counts()) == ["pages"]


def test_a_truncated_page_is_a_doubt():
    assert doubts(truncated_pages=1) == ["truncated"]


def test_fewer_than_the_site_claims_is_a_doubt():
    assert doubts(claimed_total=41) == ["total"]
    assert doubts(claimed_total=40) == []


@pytest.mark.shows("B6")
def test_one_percent_of_the_usual_count_is_a_doubt():
    assert doubts(records_seen=1) == ["count"]


def test_one_earlier_run_is_enough_to_doubt_a_list_cut_short_in_the_first_days():
    assert doubts(records_seen=1, history=(40,)) == ["count"]


def test_without_history_the_count_proves_nothing():
    assert doubts(records_seen=1, history=()) == []


def test_a_run_ends_by_what_its_pages_answered():
    assert final_status(Counts(urls_succeeded=3)) is RunStatus.SUCCESS
    assert final_status(Counts(urls_succeeded=2, urls_failed=1)) is RunStatus.PARTIAL
    assert final_status(Counts(urls_failed=1)) is RunStatus.FAILED
    assert final_status(Counts(urls_refused=2, urls_succeeded=1)) is RunStatus.SUCCESS
    assert final_status(Counts(urls_refused=2, urls_failed=1)) is RunStatus.FAILED
    assert final_status(Counts(urls_refused=2)) is RunStatus.REFUSED
