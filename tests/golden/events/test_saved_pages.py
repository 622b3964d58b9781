"""The generic adapter on saved pages, field by field: usual, empty, changed layout, blocked."""

from typing import Any

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.record import Strategy
from tidemill.verticals.events.record import Event, EventStatus

pytestmark = pytest.mark.shows("P1")


def told(events: list[Event], field: str) -> list[object]:
    return [getattr(event, field) for event in events]


def starts(events: list[Event]) -> list[str]:
    return [event.event_date.isoformat()[:16] for event in events]


class TestCards:
    """An agenda of cards without any markup for events."""

    def test_titles(self, golden: Any) -> None:
        assert told(golden.events("cards"), "title") == [
            "Lichtjestocht door de binnenstad", "Jazz in de Sluiskerk", "Pakjesavond voor alle kinderen",
            "Nieuwjaarsduik",
        ]  # fmt: skip

    def test_days_and_times_with_the_year_that_is_meant(self, golden: Any) -> None:
        assert starts(golden.events("cards")) == [
            "2026-11-21T19:00", "2026-11-27T20:15", "2026-12-05T16:00", "2027-01-03T12:00",
        ]  # fmt: skip

    def test_the_end(self, golden: Any) -> None:
        assert golden.events("cards")[0].ends_at.isoformat() == "2026-11-21T21:30:00+01:00"

    def test_places(self, golden: Any) -> None:
        assert told(golden.events("cards"), "venue_name") == [
            "Grote Markt",
            "Sluiskerk",
            "Dorpshuis De Brug",
            "Strandje Noord",
        ]

    def test_links(self, golden: Any) -> None:
        assert golden.events("cards")[0].detail_url == "https://www.waterdrecht.nl/agenda/lichtjestocht"

    def test_images(self, golden: Any) -> None:
        assert golden.events("cards")[1].image_url == "https://www.waterdrecht.nl/img/jazz.jpg"

    def test_descriptions(self, golden: Any) -> None:
        assert golden.events("cards")[1].description.startswith("Het kwartet van Ilse Voskuil")

    def test_categories(self, golden: Any) -> None:
        assert told(golden.events("cards"), "category") == ["outdoors", "music", "family", "active"]

    def test_a_guess_says_that_it_is_one(self, golden: Any) -> None:
        assert all(record.strategy is Strategy.HEURISTICS for record in golden.found("cards").records)
        assert all(0.25 <= event.confidence <= 0.75 for event in golden.events("cards"))

    @pytest.mark.shows("X11")
    def test_the_evidence(self, golden: Any) -> None:
        record = golden.found("cards").records[0]
        assert record.origin.startswith("heuristics/")
        assert set(record.places) == set(record.fields)
        assert "Lichtjestocht" in record.block

    def test_the_next_page_and_the_total(self, golden: Any) -> None:
        found = golden.found("cards")
        assert (found.total, found.next_url) == (11, "https://www.waterdrecht.nl/agenda?page=2")


def test_items_under_a_heading_that_is_a_date(golden: Any) -> None:
    events = golden.events("day_headings")
    assert told(events, "title") == ["De Kersentuin", "Open podium", "Poppenkast Jan Klaassen", "Matinee: Winterreise"]
    assert starts(events) == ["2026-11-20T20:15", "2026-11-20T21:00", "2026-11-21T14:30", "2026-11-22T15:00"]


def test_rows_of_a_table(golden: Any) -> None:
    events = golden.events("table")
    assert told(events, "title") == ["Commissie Ruimte", "Commissie Samenleving", "Gemeenteraad"]
    assert starts(events) == ["2026-11-24T19:30", "2026-12-01T19:30", "2026-12-15T20:00"]
    assert set(told(events, "venue_name")) == {"Raadzaal"}


def test_cells_of_a_month(golden: Any) -> None:
    events = golden.events("month")
    assert told(events, "title") == ["Repetitie koor", "Kerstmarkt", "Lampionnenoptocht", "Kerstnachtdienst"]
    assert starts(events) == ["2026-12-03T19:30", "2026-12-12T00:00", "2026-12-12T00:00", "2026-12-24T00:00"]


def test_a_page_about_one_event_on_two_days(golden: Any) -> None:
    first, second, *others = golden.events("single")
    assert first.title == second.title == "Kerstmarkt op het Marktplein"
    assert starts([first, second]) == ["2026-12-12T10:00", "2026-12-13T10:00"]
    assert first.ends_at.isoformat() == "2026-12-12T18:00:00+01:00"
    assert first.venue_name == "Marktplein, Waterdrecht"
    assert told(others, "title") == ["Kerstconcert fanfare", "Oliebollenloop"]


def test_structured_data_with_a_broken_block_a_comment_and_references(golden: Any) -> None:
    first, second = golden.events("jsonld")
    assert (first.title, first.venue_name, first.latitude) == ("Radar & The Ferns", "De Loods", 52.51)
    assert first.description == "Dromerige gitaren uit het noorden."
    assert second.status is EventStatus.CANCELLED
    assert second.ends_at.isoformat() == "2026-12-05T04:00:00+01:00"
    assert golden.found("jsonld").next_url == "https://www.waterdrecht.nl/agenda/2"


@pytest.mark.shows("P3")
def test_an_agenda_that_says_it_is_empty(golden: Any) -> None:
    found = golden.found("empty")
    assert found.declared_empty
    assert not found.records


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("changed", Failure.LAYOUT_CHANGED),
        ("blocked", Failure.BLOCKED_PAGE),
        ("consent", Failure.BLOCKED_PAGE),
    ],
)
def test_a_page_that_cannot_be_read_says_why(golden: Any, name: str, failure: Failure) -> None:
    reading = golden.read(name)
    assert isinstance(reading, Fail)
    assert reading.failure is failure
