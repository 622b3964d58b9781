"""What holds a change at the gate, and what a replay proves."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.replay.gate import GateThresholds, pages_words, proves_nothing, reasons_to_hold
from tidemill.core.replay.page_difference import PageDifference, RecordDifference, ReplayedState
from tidemill.core.replay.report import ReplayedPage, ReplayReport, ReportTally

pytestmark = pytest.mark.shows("X1")
ALLOWED = GateThresholds()


def page(source: str, state: ReplayedState = ReplayedState.COMPARED, **difference: object) -> ReplayedPage:
    """A page, compared or not."""
    found = PageDifference(**difference) if state is ReplayedState.COMPARED else None  # type: ignore[arg-type]
    return ReplayedPage(
        page_id=1, run_id=1, source=source, url="http://a.example/", fetched_at=NOON + timedelta(0), state=state,
        difference=found,
    )  # fmt: skip


def report_of(*pages: ReplayedPage) -> ReplayReport:
    """A report of such pages."""
    tally = ReportTally()
    for one in pages:
        tally.add(one)
    return tally.report({})


def good(source: str) -> ReplayedPage:
    """A page that reads as it did."""
    return page(source, same=20, then_verdicts=(20, 0, 0), now_verdicts=(20, 0, 0))


@pytest.mark.parametrize("state", [ReplayedState.GONE, ReplayedState.NOT_KEPT, ReplayedState.UNCHANGED])
def test_pages_none_of_which_can_be_compared_let_nothing_pass(state: ReplayedState) -> None:
    report = report_of(*[page("a", state)] * 3)
    assert proves_nothing(report)
    assert reasons_to_hold(report, ALLOWED) == [f"nothing could be compared: 3 {state.value.replace('_', ' ')}"]


def test_no_page_at_all_lets_only_that_pass_which_never_read_any() -> None:
    report = report_of()
    assert proves_nothing(report)
    assert reasons_to_hold(report, ALLOWED) == ["nothing could be compared: no page is stored"]
    assert reasons_to_hold(report, ALLOWED, is_first=True) == []


def test_a_few_pages_of_many_that_are_gone_prove_too_little() -> None:
    gone = [page("a", ReplayedState.GONE)] * 99
    (why,) = reasons_to_hold(report_of(good("a"), *gone), ALLOWED)
    assert why == "only 1 pages could be compared: 1 compared, 99 gone"
    assert reasons_to_hold(report_of(*[good("a")] * 99, gone[0]), ALLOWED) == []
    assert reasons_to_hold(report_of(good("a"), *[page("a", ReplayedState.NOT_KEPT)] * 99), ALLOWED) == []


def test_a_source_that_is_lost_is_seen_among_many_that_are_well() -> None:
    lost = RecordDifference(identity="1", before={"title": "x"}, reason="not found on the page")
    small = page("small", changes=[lost], then_verdicts=(1, 0, 0), now_verdicts=(0, 0, 0))
    report = report_of(*[good("large")] * 5, small)
    assert reasons_to_hold(report, ALLOWED) == ["source small: 0 records, where there were 1"]


def test_pages_without_records_that_fail_now_are_not_passed_over() -> None:
    empty = page("a")
    assert reasons_to_hold(report_of(empty, empty), ALLOWED) == []
    (why,) = reasons_to_hold(report_of(empty, page("a", now_failure="parse_error")), ALLOWED)
    assert why.startswith("pages that cannot be read any more: 1 of 2")
    assert pages_words(report_of(empty, page("a", ReplayedState.GONE))) == "1 compared, 1 gone"


def flooded(source: str, count: int, **more: object) -> ReplayedPage:
    """A page with so many records that were not there then."""
    changes = [RecordDifference(identity=str(number), after={"title": f"link {number}"}) for number in range(count)]
    found = {"changes": changes, "same": 20, "then_verdicts": (20, 0, 0), "now_verdicts": (20 + count, 0, 0), **more}
    return page(source, ReplayedState.COMPARED, **found)


def test_a_flood_of_new_records_waits_for_a_person() -> None:
    assert reasons_to_hold(report_of(flooded("a", 2)), ALLOWED) == []
    (why,) = reasons_to_hold(report_of(flooded("a", 3)), ALLOWED)
    assert why == "records added where pages were read before: 3 of 20, 15.0 % where 10 % pass"
    assert reasons_to_hold(report_of(flooded("a", 3)), GateThresholds(added_percent=20)) == []


def test_a_source_flooded_with_new_records_is_seen_among_many() -> None:
    report = report_of(*[good("large")] * 50, flooded("small", 21))
    assert reasons_to_hold(report, ALLOWED) == ["source small: 21 records added, where there were 20"]


def test_records_on_a_page_that_showed_none_then_wait_for_a_person() -> None:
    report = report_of(flooded("a", 8, same=0, then_verdicts=(0, 0, 0), now_verdicts=(8, 0, 0)))
    assert reasons_to_hold(report, ALLOWED)[0] == "records added where pages were read before: 8, where there was none"


def test_records_of_a_page_that_could_not_be_read_before_are_a_gain() -> None:
    mended = flooded("a", 20, same=0, then_failure="layout_changed", then_verdicts=(0, 0, 0))
    assert reasons_to_hold(report_of(good("a"), mended), ALLOWED) == []
