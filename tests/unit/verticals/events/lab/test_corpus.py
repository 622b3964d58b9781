import json
from datetime import date

import pytest
from selectolax.lexbor import LexborHTMLParser

from tidemill.verticals.events.lab.corpus import EVENTS_PER_PAGE, Corpus

FIRST_DAY = date(2026, 11, 2)


def events_on(page: bytes) -> list[dict[str, str]]:
    [block] = LexborHTMLParser(page.decode()).css('script[type="application/ld+json"]')
    return json.loads(block.text())


def test_a_page_weighs_30_kilobytes_and_holds_sixteen_events() -> None:
    corpus = Corpus(FIRST_DAY)
    for number in (0, 1, 39, 40, 999_999):
        page = corpus.page(number)
        assert 29_000 < len(page) < 33_000
        assert len(events_on(page)) == EVENTS_PER_PAGE


def test_no_two_events_of_the_corpus_share_a_title_or_an_address() -> None:
    corpus = Corpus(FIRST_DAY)
    events = [event for number in range(200) for event in events_on(corpus.page(number))]
    assert len({event["url"] for event in events}) == 200 * EVENTS_PER_PAGE
    assert len({(event["name"], event["startDate"]) for event in events}) == 200 * EVENTS_PER_PAGE


def test_every_event_lies_ahead_of_the_first_day() -> None:
    corpus = Corpus(FIRST_DAY)
    days = [event["startDate"][:10] for number in range(50) for event in events_on(corpus.page(number))]
    assert "2026-11-03" <= min(days) <= max(days) < "2027-01-01"


def test_the_corpus_is_the_same_every_time() -> None:
    assert Corpus(FIRST_DAY).page(123) == Corpus(FIRST_DAY).page(123)
    assert Corpus(FIRST_DAY).page(123) != Corpus(FIRST_DAY).page(163)


def test_a_number_outside_the_corpus_is_refused() -> None:
    with pytest.raises(ValueError, match="numbered from 0 to 999999, not 1000000"):
        Corpus(FIRST_DAY).page(1_000_000)
