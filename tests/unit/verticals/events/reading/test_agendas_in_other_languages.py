"""Agendas in German, French, Spanish and Italian, and where an event is held when nothing names the place."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import Document, ReadingContext, find_moments
from tidemill.reading.moments.other_languages import in_known_words
from tidemill.verticals.events.reading.events import read_events

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
Told = tuple[str, str, str]


def read(body: str, title: str = "Agenda", language: str = "en") -> list[Told]:
    markup = f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"
    context = ReadingContext(now=NOW, time_zone="Europe/Berlin", language=language)
    records = read_events(Document(markup, "https://town.example/agenda"), context).records
    return [
        (str(one.fields["starts"])[:16], str(one.fields["title"]), str(one.fields.get("place", ""))) for one in records
    ]


AGENDAS = {
    "de": (
        (
            "<h1>Veranstaltungen</h1><article><h2>Ostermarkt</h2><p>Samstag, 28. März 2026, 11 bis 17 Uhr</p>"
            "<p class=ort>Rathausplatz</p></article><article><h2>Lesung</h2><p>Mi, 1. April 2026, 19:30 Uhr</p>"
            "<p class=ort>Stadtbücherei</p></article>"
        ),
        [("2026-03-28T11:00", "Ostermarkt", "Rathausplatz"), ("2026-04-01T19:30", "Lesung", "Stadtbücherei")],
    ),
    "fr": (
        (
            "<div class=evt><h3>Concert</h3><div>Samedi 21 mars 2026 à 20h30</div>"
            "<div class=lieu>Salle des fêtes</div></div>"
            "<div class=evt><h3>Vide-grenier</h3><div>Dimanche 29 mars de 8h à 18h</div><div>Place du marché"
            "</div></div>"
        ),
        [("2026-03-21T20:30", "Concert", "Salle des fêtes"), ("2026-03-29T08:00", "Vide-grenier", "Place du marché")],
    ),
    "es": (
        (
            "<div class=evento><h3>La casa</h3><p>Viernes 20 de marzo de 2026, 20:00 h</p><p>Teatro Principal</p></div>"
            "<div class=evento><h3>Cuentos</h3><p>Sábado 21 de marzo, 12:00 h</p><p class=lugar>Biblioteca</p></div>"
        ),
        [("2026-03-20T20:00", "La casa", "Teatro Principal"), ("2026-03-21T12:00", "Cuentos", "Biblioteca")],
    ),
    "it": (
        (
            "<ul><li><h3>Mercato</h3><p>sabato 14 marzo 2026, ore 9.00</p><p class=luogo>Piazza Grande</p></li>"
            "<li><h3>Concerto</h3><p>domenica 22 marzo 2026 ore 21.00</p><p class=luogo>Duomo</p></li></ul>"
        ),
        [("2026-03-14T09:00", "Mercato", "Piazza Grande"), ("2026-03-22T21:00", "Concerto", "Duomo")],
    ),
}


@pytest.mark.parametrize("language", AGENDAS)
@pytest.mark.shows("E2")
def test_an_agenda_is_read_in_its_own_language(language: str) -> None:
    body, wanted = AGENDAS[language]
    assert read(body, language=language) == wanted


@pytest.mark.parametrize("language", AGENDAS)
def test_an_agenda_is_read_though_its_source_names_another_language(language: str) -> None:
    body, wanted = AGENDAS[language]
    assert [starts for starts, _, _ in read(body)] == [starts for starts, _, _ in wanted]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Ausstellung vom 14. bis 16. März im Museum", [(14, 16)]),
        ("L'exposition du 14 au 16 mars 2026", [(14, 16)]),
        ("La mostra dal 14 al 16 marzo 2026", [(14, 16)]),
        ("La feria del 14 al 16 de marzo de 2026", [(14, 16)]),
        ("ateliers les 14 et 15 mars", [(14, None), (15, None)]),
        ("le 1er mars à 20h", [(1, None)]),
        ("1° marzo, ore 20.30", [(1, None)]),
    ],
)
def test_days_in_running_text_are_found_in_four_more_languages(text: str, days: list[tuple[int, int | None]]) -> None:
    found = [one.moment for one in find_moments(text, NOW, "Europe/Berlin", "de")]
    assert [(one.day.day, one.ends.day if one.ends else None) for one in found] == days


@pytest.mark.parametrize("text", ["a 3 set match", "so 10 people came", "Mars is a planet with 2 moons", "du 14 mars"])
def test_every_letter_keeps_its_place(text: str) -> None:
    assert len(in_known_words(text)) == len(text)


def test_words_of_other_sentences_are_no_dates() -> None:
    assert find_moments("a 3 set match in the month of Mars", NOW) == []


def test_paragraphs_with_labels_are_events_of_their_own() -> None:
    told = read(
        "<h1>Water District</h1><h2>Upcoming Meetings</h2><p><strong>Regular Board Meeting</strong><br>"
        "Date: Monday, March 16, 2026<br>Time: 7:00 PM<br>Location: District Office</p><p>"
        "<strong>Special Meeting - Rate Study</strong><br>"
        "Date: Thursday, March 26, 2026<br>Time: 6:00 PM<br>Location: High School Library</p>",
        "Water District",
    )
    assert told == [
        ("2026-03-16T19:00", "Regular Board Meeting", "District Office"),
        ("2026-03-26T18:00", "Special Meeting - Rate Study", "High School Library"),
    ]


def test_a_room_behind_the_date_is_the_place_and_the_heading_the_title() -> None:
    months = "".join(
        f'<details><summary>{day.split()[0]} 2026</summary><div><a href="/m/{place}">{day}, 2026 \u2013 5:00 PM '
        "\u2013 Terminal Conference Room \u2013 Agenda</a></div></details>"
        for place, day in enumerate(("March 11", "April 8"))
    )
    told = read(f"<h1>Airport Commission</h1>{months}", "Airport Commission")
    assert told[0] == ("2026-03-11T17:00", "Airport Commission", "Terminal Conference Room")


def test_a_place_in_brackets_or_behind_a_dash_is_no_part_of_the_title() -> None:
    told = read(
        "<h2>maart</h2><p>do 12 maart 20.00 uur Commissie Ruimte (raadzaal)</p>"
        "<p>do 19 maart 20.00 uur Lezing: Bomen \u2013 Grote Zaal</p>",
        "Vergaderkalender",
    )
    assert told == [
        ("2026-03-12T20:00", "Commissie Ruimte", "raadzaal"),
        ("2026-03-19T20:00", "Lezing: Bomen", "Grote Zaal"),
    ]


def test_a_heading_that_shares_what_the_page_is_titled_after_names_its_events() -> None:
    dates = "<ul><li>March 10</li><li>April 14</li><li>May 12</li></ul>"
    told = read(f"<h1>Parks and Recreation Board</h1>{dates}", "Parks Board | Elmwood")
    assert {title for _, title, _ in told} == {"Parks and Recreation Board"}
    told = read(f"<h1>Welcome to Elmwood</h1>{dates}", "Parks Board | Elmwood")
    assert {title for _, title, _ in told} == {"Parks Board"}


def test_the_only_other_line_of_a_card_is_where_it_is() -> None:
    card = '<div class="card"><h3><a href="/{0}">{1}</a></h3><p>{2}</p><p>{3}</p></div>'
    cards = [("1", "Fun Run", "Sat, Mar 14, 2026 8am", "North Field"), ("2", "Talk", "Thu, Mar 19, 2026 4pm", "Free")]
    told = read("".join(card.format(*each) for each in cards))
    assert [place for _, _, place in told] == ["North Field", ""]


def test_a_meeting_that_names_no_body_is_told_with_the_sites_name() -> None:
    rows = "".join(f"<li><a href='/{day}'>Board Meeting</a> March {day}, 2026</li>" for day in (10, 17, 24))
    titles = {title for _, title, _ in read(f"<h1>Meetings</h1><ul>{rows}</ul>", "Meetings | Elmwood Transit")}
    assert titles == {"Elmwood Transit: Board Meeting"}


def test_a_link_that_says_too_much_for_a_title_is_named_by_its_first_clause() -> None:
    row = "<tr><td><h3>Aug {0}, 2026</h3><p><a href='/{0}'>Joint Meeting of the City Council: {1}</a></p></td></tr>"
    long = "via video, join by the address that the clerk sends to whoever asks for it in time, or by telephone " * 2
    told = read(f"<table>{''.join(row.format(day, long) for day in (11, 18, 25))}</table>", "Agendas")
    assert {title for _, title, _ in told} == {"Joint Meeting of the City Council"}


def test_a_meeting_that_recurs_states_hour_and_place_for_the_dates_under_it() -> None:
    rows = "".join(f"<tr><td>March {day}</td><td>Talk {day} - Rivers</td></tr>" for day in (12, 19, 26))
    told = read(
        "<h1>Rotary Club</h1><p>We meet every Thursday at 12:15 pm at the Elm Inn, 20 Main St.</p><h2>Speakers</h2>"
        f"<table>{rows}</table>",
        "Rotary Club",
    )
    assert [(starts, title) for starts, title, _ in told] == [
        (f"2026-03-{day}T12:15", f"Talk {day} - Rivers") for day in (12, 19, 26)
    ]
    assert all(place.startswith("Elm Inn") for _, _, place in told)


def test_how_to_join_a_meeting_is_no_event_of_its_own() -> None:
    told = read(
        "<h1>Climate Commission</h1><p>Thursday, March 12, 2026 at 4:00 PM</p><p>Virtual meeting via Zoom: "
        "https://video.example/j/1</p><p>Thursday, April 9, 2026 at 4:00 PM</p><p>Virtual meeting via Zoom: "
        "https://video.example/j/2</p>",
        "Climate Commission",
    )
    assert [starts for starts, _, _ in told] == ["2026-03-12T16:00", "2026-04-09T16:00"]


def test_a_second_date_beside_the_address_of_an_event_is_not_another() -> None:
    card = (
        "<li><div class=t><a href='/{0}'>{1}</a></div><div>Fri, Mar {0}</div><div>{2}</div><div><div>Mar {0}, 2026, "
        "6:30 PM</div><div class=location>{2}, 5 Vine St</div></div></li>"
    )
    told = read(f"<ul>{card.format(20, 'Wine Tasting', 'The Cellar')}{card.format(27, 'Bread', 'Mill Kitchen')}</ul>")
    assert [title for _, title, _ in told] == ["Wine Tasting", "Bread"]


def test_where_one_meets_is_no_part_of_the_title() -> None:
    lines = "".join(
        f"<p>Saturday March {day}, 9 am: Cleanup {day}, meet at the Boat Launch</p>" for day in (14, 21, 28)
    )
    told = read(f"<h1>Friends of the River</h1>{lines}")
    assert told[0][1:] == ("Cleanup 14", "Boat Launch")
