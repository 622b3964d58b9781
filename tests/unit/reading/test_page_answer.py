"""A page's answer says when it holds less than the page."""

from datetime import UTC, datetime

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading import Document, ReadingContext
from tidemill.reading.page_answer import MOST_RECORDS, page_answer
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.listings.reading import read_listings

CONTEXT = ReadingContext(now=datetime(2026, 11, 15, 12, tzinfo=UTC))


def records(count: int, strategy: Strategy = Strategy.JSONLD) -> list[RawRecord]:
    return [RawRecord(fields={"title": f"t{n}"}, strategy=strategy, confidence=1, origin="x") for n in range(count)]


def test_records_beyond_the_most_are_left_out_and_said() -> None:
    answer = page_answer(Document("x"), records(MOST_RECORDS + 1), total=None, next_url=None)
    assert len(answer.records) == MOST_RECORDS
    assert answer.truncated
    assert answer.notes == ("5001 records, of which the first 5000 were kept",)


def test_an_ordinary_page_is_whole() -> None:
    answer = page_answer(Document("x"), records(MOST_RECORDS), total=None, next_url=None)
    assert (len(answer.records), answer.truncated, answer.notes) == (MOST_RECORDS, False, ())


def test_a_page_of_too_many_events_is_capped() -> None:
    events = ",".join(
        f'{{"@type": "Event", "name": "e{n}", "startDate": "2026-12-01T20:00", "url": "/{n}", "location": "x"}}'
        for n in range(MOST_RECORDS + 5)
    )
    found = read_events(Document(f'<script type="application/ld+json">[{events}]</script>', "https://a.nl/"), CONTEXT)
    assert len(found.records) == MOST_RECORDS
    assert found.truncated


def test_a_page_that_was_cut_says_so() -> None:
    markup = (
        "<ul><li><a href=/1>Jazz</a> 21 november</li><li><a href=/2>Markt</a> 22 november</li></ul>" + "<div>" * 9_999
    )
    found = read_events(Document(markup, "https://a.nl/"), CONTEXT)
    assert [record.fields["title"] for record in found.records] == ["Jazz", "Markt"]
    assert found.truncated
    assert found.notes[-1] == "the page was cut: more than 512 elements within each other"
    assert read_listings(Document("<div>" * 9_999)).truncated
