"""Judging events."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.identity import normalized
from tidemill.core.record import RawRecord, Strategy
from tidemill.core.source import Coordinates, Source
from tidemill.core.verdict import Accepted, Dropped, Quarantined
from tidemill.core.vertical import Context
from tidemill.reading.text import plain
from tidemill.verticals.events import rules
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.record import Category, Event, EventStatus, Precision
from tidemill.verticals.events.rules import Reason

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
EDAM = Source(
    id=7, name="Edam", vertical="events", base_url="https://edam.nl", adapter_id="events.generic",
    city="Edam", coordinates=Coordinates(52.5, 5.05),
)  # fmt: skip


def judged(source: Source = EDAM, **fields: object) -> Any:
    fields = {"title": "Koor zingt", "starts": "2026-12-01T20:00:00+01:00"} | fields
    raw = RawRecord(
        fields={name: value for name, value in fields.items() if value is not None},
        strategy=Strategy.JSONLD,
        confidence=0.95,
        origin="json-ld/0",
    )
    return EVENTS.judge(raw, Context(source, "https://edam.nl/agenda", NOON))


def event(**fields: Any) -> Event:
    verdict = judged(**fields)
    assert isinstance(verdict, Accepted), verdict
    return verdict.record


@pytest.mark.shows("E1")
@pytest.mark.parametrize("title", [None, "", "   ", "---", "<b></b>"])
def test_an_event_without_a_title_is_dropped(title: str | None) -> None:
    assert judged(title=title).reason == Reason.NO_TITLE


@pytest.mark.shows("E2")
def test_an_event_without_a_date_is_dropped() -> None:
    assert judged(starts=None) == Dropped(Reason.NO_DATE, "Koor zingt")


def test_a_field_that_is_a_number_counts_as_its_digits_and_a_list_as_nothing() -> None:
    found = event(title=1984, postal_code=6711, organizer=["a"], image={"url": "a"}, place=True, latitude="52,1")
    assert (found.title, found.structured_location.postal_code) == ("1984", "6711")
    assert (found.organizer, found.image_url, found.structured_location.name) == ("", None, "")


def test_a_place_of_monstrous_length_is_cut_and_not_remembered() -> None:
    before = len(rules._PLACES)
    assert len(event(place="zaal " * 1_000).structured_location.name) <= 200
    assert len(rules._PLACES) == before


def test_places_are_forgotten_before_they_are_too_many() -> None:
    places = rules._Places()
    names = [places[f"zaal  {number}", "", "", "", ""].name for number in range(rules._MOST_PLACES + 1)]
    assert names[-1] == f"zaal {rules._MOST_PLACES}"
    assert len(places) == 1


def test_the_same_stamp_is_another_hour_in_another_zone() -> None:
    there = msgspec.structs.replace(EDAM, time_zone="America/Chicago", language="en")
    stamps = {"starts": "2026-12-01T20:00:00Z", "ends": "2026-12-01T22:30:00Z"}
    times = [judged(source, **stamps).record.structured_date for source in (EDAM, there, EDAM)]
    assert [(one.start_time, one.end_time) for one in times] == [
        ("21:00", "23:30"),
        ("14:00", "16:30"),
        ("21:00", "23:30"),
    ]


@pytest.mark.shows("E2")
def test_a_date_that_cannot_be_read_is_dropped_with_its_words() -> None:
    assert judged(starts="binnenkort") == Dropped(Reason.UNREADABLE_DATE, "binnenkort")


def test_a_month_is_too_vague() -> None:
    assert judged(starts="december 2026") == Dropped(Reason.VAGUE_DATE, "december 2026")


def test_an_hour_alone_is_no_date() -> None:
    assert judged(starts="20:30 uur").reason == Reason.UNREADABLE_DATE


@pytest.mark.shows("E2")
def test_a_weekday_that_contradicts_its_date_is_for_a_person_to_decide() -> None:
    verdict = judged(starts="maandag 20 november 2026")
    assert isinstance(verdict, Quarantined)
    assert verdict.reason == Reason.CONTRADICTORY_DATE


def test_a_broadcast_is_nothing_to_go_to() -> None:
    assert judged(kind="BroadcastEvent").reason == Reason.NO_OCCASION


def test_a_guessed_year_costs_confidence() -> None:
    assert event(starts="1 december").confidence < event(starts="1 december 2026").confidence


def test_a_date_and_a_time_in_fields_of_their_own_are_read_together() -> None:
    assert event(starts="dinsdag 1 december 2026", time="20.15 uur").event_time == "20:15"


def test_the_words_that_a_date_was_read_from_are_kept() -> None:
    assert event(starts="dinsdag 1 december 2026").structured_date.source_text == "dinsdag 1 december 2026"


@pytest.mark.shows("E2")
def test_english_in_europe_writes_the_day_first() -> None:
    source = msgspec.structs.replace(EDAM, language="en")
    assert judged(source, starts="3/12/2026").record.event_date.day == 3
    american = msgspec.structs.replace(source, time_zone="America/Chicago")
    assert judged(american, starts="12/3/2026").record.event_date.day == 3


def test_history_is_dropped_and_so_is_a_date_beyond_belief() -> None:
    assert judged(starts="2024-01-01").reason == Reason.LONG_PAST
    assert judged(starts="2099-01-01").reason == Reason.TOO_FAR


def test_a_long_exhibition_that_still_runs_is_no_history() -> None:
    assert event(starts="2025-09-01", ends="2026-12-01").ends_at == datetime.fromisoformat("2026-12-01T23:59+01:00")


@pytest.mark.shows("E1")
def test_the_guaranteed_fields_are_there_even_if_the_page_says_little() -> None:
    bare = event(starts="2026-12-01")
    assert bare.description == ""
    assert bare.event_time == "TBD"
    assert bare.event_date.isoformat() == "2026-12-01T00:00:00+01:00"
    assert bare.venue_name == "Edam"
    assert bare.category in Category
    assert (bare.latitude, bare.longitude, bare.location_precision) == (52.5, 5.05, Precision.SOURCE)


@pytest.mark.shows("E2")
def test_a_time_in_another_zone_is_told_in_the_sources_own() -> None:
    assert event(starts="2026-07-01T18:00:00Z").event_time == "20:00"


@pytest.mark.shows("E2")
def test_an_hour_that_the_clocks_skip_is_read_as_the_one_they_show() -> None:
    assert event(starts="2026-03-29T02:30").event_date.isoformat() == "2026-03-29T03:30:00+02:00"


def test_a_night_that_ends_after_midnight_ends_the_next_day() -> None:
    late = event(starts="2026-12-01T23:00", ends="2026-12-01T02:00")
    assert late.ends_at.isoformat() == "2026-12-02T02:00:00+01:00"


def test_an_end_years_away_is_not_believed() -> None:
    assert event(ends="2099-01-01").ends_at is None


@pytest.mark.shows("E3")
def test_the_identity_is_the_sources_own_id_then_its_address_then_the_fingerprint() -> None:
    assert judged(id="A1", url="https://edam.nl/e/1").identity == "id:A1"
    assert judged(url="https://edam.nl/e/1?utm_source=x").identity == "https://edam.nl/e/1"
    assert judged().identity == event().fingerprint


@pytest.mark.shows("E3")
def test_an_address_that_several_events_share_is_no_identity() -> None:
    assert judged(url="https://edam.nl/e/1", shared_url=True).identity == event().fingerprint


def test_an_address_that_differs_only_in_its_fragment_is_still_its_own() -> None:
    assert judged(url="https://edam.nl/agenda#e1").identity == "https://edam.nl/agenda#e1"


@pytest.mark.shows("E3")
def test_a_corrected_title_or_a_moved_date_is_the_same_event_when_the_source_names_it() -> None:
    before = judged(url="https://edam.nl/e/1")
    after = judged(url="https://edam.nl/e/1", title="Koor zingt!", starts="2026-12-02T20:00")
    assert before.identity == after.identity
    assert before.record.fingerprint != after.record.fingerprint


@pytest.mark.shows("E3")
def test_case_and_spacing_do_not_change_a_fingerprint() -> None:
    assert event(title="KOOR   zingt").fingerprint == event().fingerprint


@given(st.text(st.characters(max_codepoint=0xFF)) | st.text())
def test_a_tidy_title_counts_for_identity_as_any_text_does(text: str) -> None:
    title = plain(text, 300)
    assert rules._counted(title, title.lower()) == normalized(title)


@pytest.mark.parametrize("word", ["Cancelled", "canceled", "GEANNULEERD", "afgelast", "gaat niet door"])
def test_a_word_in_the_title_or_beside_it_cancels_an_event(word: str) -> None:
    assert event(title=f"{word}: Koor zingt", status="EventScheduled").status is EventStatus.CANCELLED
    assert event(status=f"helaas {word}").status is EventStatus.CANCELLED


def test_a_cancelled_event_says_so() -> None:
    assert event(status="EventCancelled").status is EventStatus.CANCELLED
    assert event(title="GEANNULEERD: Koor zingt").status is EventStatus.CANCELLED
    assert event(status="EventScheduled").status is EventStatus.SCHEDULED


@pytest.mark.shows("A4")
def test_markup_never_survives_into_text() -> None:
    shown = event(title="<b>Koor</b> &amp; band", description="<p>Een<br>avond</p><script>alert(1)</script>")
    assert shown.title == "Koor & band"
    assert shown.description == "Een avond"


def test_coordinates_out_of_range_or_unreadable_are_not_used() -> None:
    assert event(latitude="91", longitude="5").location_precision is Precision.SOURCE
    assert event(latitude="x", longitude="5").location_precision is Precision.SOURCE
    assert event(latitude="52,1", longitude="5").location_precision is Precision.VENUE


def test_a_tracking_pixel_is_no_image() -> None:
    assert event(image="https://t.example/pixel.gif?id=1").image_url is None
    assert event(image="https://edam.nl/foto.jpg").image_url == "https://edam.nl/foto.jpg"


def test_a_stored_event_comes_back_as_it_was() -> None:
    verdict = judged(url="https://edam.nl/e/1", ends="2026-12-01T22:00")
    assert EVENTS.decode_record(msgspec.json.encode(verdict.record)) == verdict.record


def test_a_reading_below_the_floor_is_set_aside() -> None:
    fields = {"title": "Koor zingt", "starts": "2026-12-01T20:00:00+01:00"}
    context = Context(EDAM, "https://edam.nl/agenda", NOON)
    sure = RawRecord(
        fields=fields, strategy=Strategy.HEURISTICS, confidence=rules.CONFIDENCE_FLOOR, origin="heuristics/p[1]"
    )
    unsure = msgspec.structs.replace(sure, confidence=rules.CONFIDENCE_FLOOR - 0.05)
    assert isinstance(EVENTS.judge(sure, context), Accepted)
    verdict = EVENTS.judge(unsure, context)
    assert isinstance(verdict, Quarantined)
    assert verdict.reason == Reason.UNSURE


@pytest.mark.shows("E1b")
def test_the_section_of_the_agenda_page_decides_the_category() -> None:
    raw = RawRecord(
        fields={"title": "Wijnproeverij", "starts": "2026-12-01"},
        strategy=Strategy.SELECTORS,
        confidence=0.9,
        origin="li",
    )
    verdict = EVENTS.judge(raw, Context(EDAM, "https://edam.nl/agenda/muziek", NOON))
    assert isinstance(verdict, Accepted)
    assert verdict.record.category is Category.MUSIC
