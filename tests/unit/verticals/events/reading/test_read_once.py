"""What several fields of a block ask for is worked out once."""

from datetime import UTC, date, datetime

from tidemill.reading import Document, ReadingContext
from tidemill.reading.outline import Element, outline_of
from tidemill.verticals.events.reading.heuristics import dating

CONTEXT = ReadingContext(now=datetime(2026, 11, 19, 12, tzinfo=UTC), time_zone="America/New_York", language="en")


def _is_label(element: Element) -> bool:
    return element.tag == "b"


def test_the_lines_of_a_block_are_put_together_once_for_each_way_to_ask() -> None:
    root = Document("<div><b>Date:</b><p>March 3</p><p>Main  Hall</p></div>").tree.body
    assert root is not None
    block = outline_of(root)[1]
    assert list(block.lines()) == ["Date:", "March 3", "Main Hall"]
    assert list(block.lines(without=_is_label)) == ["March 3", "Main Hall"]
    assert block.lines() is block.lines()
    assert block.lines(without=_is_label) is block.lines(without=_is_label)


def test_a_text_is_searched_once_for_its_dates_whatever_year_is_over_it() -> None:
    text = "Tree lighting, December 4"
    before = dating._found_in.cache_info().misses
    days = {year: dating.moments_in(text, CONTEXT, year)[0][2].day for year in (None, 2027, 2031)}
    assert days == {None: date(2026, 12, 4), 2027: date(2027, 12, 4), 2031: date(2031, 12, 4)}
    assert dating._found_in.cache_info().misses == before + 1


def test_the_year_that_a_text_names_itself_goes_before_the_one_over_it() -> None:
    found = dating.moments_in("December 4 and December 11, 2028", CONTEXT, 2031)
    assert {moment.starts.year for _, _, moment in found} == {2028}
