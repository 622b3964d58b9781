"""Events guessed from a page's layout, in the many ways that agendas are laid out."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.heuristics import read_heuristics
from tidemill.verticals.events.reading.heuristics.wording import is_title, title_from, without_dates

pytestmark = pytest.mark.shows("P1")

SUNDAY = ReadingContext(now=datetime(2026, 11, 15, 12, tzinfo=UTC))


def records(body: str, title: str = "Agenda") -> list[RawRecord]:
    markup = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return read_heuristics(Document(markup, "https://a.nl/agenda"), SUNDAY)


def told(body: str, title: str = "Agenda") -> list[tuple[object, object]]:
    return [(record.fields["title"], record.fields["starts"]) for record in records(body, title)]


def test_a_bold_date_over_a_line() -> None:
    body = (
        "<div><p><strong>Zaterdag 21 november</strong><br>Lampionoptocht, 19.00 uur, vanaf het plein</p>"
        "<p><strong>Vrijdag 4 december</strong><br>Bingo, aanvang 20.00 uur, zaal open 19.30 uur</p></div>"
    )
    assert told(body) == [("Lampionoptocht", "2026-11-21T19:00+01:00"), ("Bingo", "2026-12-04T20:00+01:00")]


def test_a_date_in_pieces() -> None:
    card = "<div class=e><p><i>{}</i><i>{}</i><i>november</i></p><h3>{}</h3><i>aanvang 20:15 uur</i></div>"
    body = card.format("za", 21, "Requiem") + card.format("zo", 22, "Matinee")
    assert told(body) == [("Requiem", "2026-11-21T20:15+01:00"), ("Matinee", "2026-11-22T20:15+01:00")]


def test_a_stamp_beside_the_words() -> None:
    card = '<li><a href="/{0}"><time datetime="{1}">binnenkort</time><h2>Markt {0}</h2></a> {2}</li>'
    body = f"<ul>{card.format(1, '2026-11-21T19:00+01:00', '')}{card.format(2, '2026-11-28', '20.15 uur')}</ul>"
    assert told(body) == [("Markt 1", "2026-11-21T19:00+01:00"), ("Markt 2", "2026-11-28T20:15+01:00")]


def test_seconds_since_1970_in_an_attribute() -> None:
    card = '<div class=e data-time="{}"><b>Concert {}</b></div>'
    body = card.format("1795978800-1795986000", 1) + card.format("1796065200", 2)
    first, second = records(body)
    assert (first.fields["starts"], first.fields["ends"]) == ("2026-11-29T20:00+01:00", "2026-11-29T22:00+01:00")
    assert second.fields["starts"] == "2026-11-30T20:00+01:00"


def test_the_number_of_a_day_under_the_name_of_a_month() -> None:
    body = (
        "<h2>November 2026</h2><ul><li><b>vr 20</b> <a href=/1>Rondleiding</a> 14:00</li>"
        "<li><b>za 28</b> <a href=/2>Lezing</a></li></ul>"
        "<h2>December 2026</h2><ul><li><b>wo 2</b> <a href=/3>Atelier</a></li></ul>"
    )
    assert told(body) == [
        ("Rondleiding", "2026-11-20T14:00+01:00"),
        ("Lezing", "2026-11-28"),
        ("Atelier", "2026-12-02"),
    ]


def test_bare_dates_are_of_what_the_heading_names_in_the_year_it_names() -> None:
    body = "<h2>Raadsvergaderingen 2027</h2><ul><li>12 januari</li><li>9 februari</li><li>9 maart</li></ul>"
    assert told(body) == [("Raadsvergaderingen", f"2027-{day}") for day in ("01-12", "02-09", "03-09")]


def test_a_place_after_the_date_is_no_title() -> None:
    dates = "<li>8 december 2026, 10:30 uur, Stadhuis, zaal 3</li><li>9 maart 2027, Stadhuis, zaal 1</li>"
    body = f"<h1>Raad van Toezicht</h1><ul>{dates}</ul>"
    first, _ = records(body, "Raad van Toezicht")
    assert (first.fields["title"], first.fields["place"]) == ("Raad van Toezicht", "Stadhuis, zaal 3")


def test_a_page_about_one_exhibition() -> None:
    facts = "<p>Van 20 november 2026 t/m 10 januari 2027</p><p>Locatie: Museum De Sluis</p>"
    body = f"<main><h1>Licht en water</h1>{facts}</main>"
    (record,) = records(body, "Licht en water | Museum De Sluis")
    assert record.fields["starts"] == "2026-11-20"
    assert record.fields["ends"] == "2027-01-10T23:59+01:00"
    assert record.fields["place"] == "Museum De Sluis"
    assert record.fields["url"] == "https://a.nl/agenda"


def test_the_sites_name_is_not_the_events() -> None:
    body = "<h1>Gemeente Edam</h1><h2>Kermis op de Dam</h2><p>Datum: 5 december 2026 14:00 uur</p>"
    assert told(body, "Evenement | Gemeente Edam") == [("Kermis op de Dam", "2026-12-05T14:00+01:00")]


@pytest.mark.parametrize(
    "body",
    [
        "<article><h2><a href=/1>Brug open</a></h2><p>Geplaatst op 12 november 2026</p><p>Lint geknipt.</p></article>"
        * 2,
        "<p>" + "Het werk dat op een regenachtige maandag begon was pas klaar op 3 mei 2026, " * 3 + "zei men.</p>",
        "<footer><p>Copyright 1 januari 2026</p></footer><nav><li>3 mei 2026 Nieuws</li></nav>",
        "<table><tr><td>1</td><td>2</td></tr></table>",
        "",
    ],
)
def test_what_is_no_event_is_not_guessed(body: str) -> None:
    assert told(body) == []


def test_confidence_tells_a_titled_card_from_a_bare_date() -> None:
    cards = "".join(
        f"<li><h3>Concert {n}</h3><p>{n} december 2026, 20:00 uur</p><a href=/{n}>Meer</a></li>" for n in (1, 2, 3)
    )
    bare = "<h2>Koor</h2><ul><li>1 december</li><li>8 december</li><li>15 december</li></ul>"
    assert min(record.confidence for record in records(f"<ul>{cards}</ul>")) > max(
        record.confidence for record in records(bare)
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Raadsvergadering 20 mei 2026", "Raadsvergadering"),
        ("20:15 uur - Jazz in de kerk", "Jazz in de kerk"),
        ("Concert, 20.00 uur, Grote zaal", "Concert"),
        ("Lees meer", ""),
        ("Agenda (pdf)", ""),
        ("12 mei 2026", ""),
        ("Evenementen", ""),
    ],
)
def test_titles_are_told_from_dates_and_labels(text: str, title: str) -> None:
    assert title_from(text) == title


def test_words_that_stand_over_any_agenda_are_no_title() -> None:
    assert not is_title("Upcoming events")
    assert is_title("Jazz in de kerk")
    assert without_dates("vr 20 nov 2026, 20:00 uur") == ""


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 20_000 + "20 november 2026",
        "<p>" + "1 dag " * 200 + "</p><p>" + "ma 1, " * 200 + "</p>",
        "<h1>" + "20 november 2026 om " * 5_000 + "</h1>",
        "<p>" + "-" * 100_000 + "</p>",
        "<table>" + "<tr><td>1 nov</td><td>x</td></tr>" * 2_000 + "</table>",
    ],
)
def test_hostile_markup_is_read_in_bounded_work(body: str) -> None:
    assert len(records(body)) <= 500
