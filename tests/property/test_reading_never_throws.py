"""Laws of reading: whatever a page holds, it is read without an exception, and always alike."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.reading import Document, ReadingContext, blocked, declares_empty, parse_moment
from tidemill.reading.text import plain, squash
from tidemill.verticals.events.reading.events import read_events

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PIECES = st.sampled_from([
    "<div>", "</div>", "<li>", "<table>", "<tr>", "<td>", "</p>", "<p", "<!--", "-->", "</script>", "<h1>", "&#x0;",
    "<script type='application/ld+json'>", '{"@type":"Event","name":', '"x",', "}", "[", "]", "\\ud83d", "@graph",
    "null",
    "20 november", "12/12/2026", "half acht", "t/m", "morgen", "29 februari", "'s avonds", "24:00", "in 9999 jaar",
    "9999 years ago", "<time datetime='2026-13-01'>", "itemscope itemprop=x", "<a href='http://[::'>", "\x00", "é", "0",
    "999999999999",
])  # fmt: skip
MARKUP = st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join)


@pytest.mark.shows("P3")
@settings(max_examples=150, deadline=None)
@given(markup=MARKUP)
def test_no_markup_makes_a_reader_throw(markup: str) -> None:
    document = Document(markup, "https://a.nl/")
    found = read_events(document, ReadingContext(now=NOON))
    assert not any("Error" in note for note in found.notes), found.notes
    blocked(document)
    declares_empty(document)


@pytest.mark.shows("F1")
@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(PIECES.map(str.encode) | st.binary(max_size=4), max_size=40))
def test_a_pages_bytes_are_read_as_the_text_that_a_browser_makes_of_them(pieces: list[bytes]) -> None:
    encoded = b"".join(pieces)
    document, text = Document(encoded, "https://a.nl/"), encoded.decode(errors="replace")
    assert read_events(document, ReadingContext(now=NOON)) == read_events(
        Document(text, "https://a.nl/"), ReadingContext(now=NOON)
    )
    assert document.markup == text


@settings(max_examples=300, deadline=None)
@given(text=MARKUP | st.text(max_size=60), language=st.sampled_from(["nl", "en"]))
def test_no_text_makes_a_date_reader_throw(text: str, language: str) -> None:
    moment = parse_moment(text, NOON, language=language)
    assert moment is None or moment.starts.tzinfo is not None
    assert moment is None or moment.ends is None or moment.ends >= moment.starts


@pytest.mark.shows("E2")
@given(
    day=st.dates(min_value=datetime(1950, 1, 1, tzinfo=UTC).date(), max_value=datetime(2150, 1, 1, tzinfo=UTC).date())
)
def test_every_day_survives_being_written(day: datetime) -> None:
    months = "januari februari maart april mei juni juli augustus september oktober november december".split()  # noqa: SIM905
    for written in (
        day.isoformat(),
        f"{day.day} {months[day.month - 1]} {day.year}",
        f"{day.day}-{day.month}-{day.year}",
    ):
        moment = parse_moment(written, NOON)
        assert moment is not None
        assert moment.day == day


@given(text=st.text())
def test_squashing_twice_changes_nothing(text: str) -> None:
    assert squash(squash(text)) == squash(text)


@given(text=st.text(max_size=200), limit=st.integers(min_value=1, max_value=50))
def test_bounded_text_is_bounded(text: str, limit: int) -> None:
    assert len(plain(text, limit)) <= limit
