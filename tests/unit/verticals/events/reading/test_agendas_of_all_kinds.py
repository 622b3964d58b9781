"""Agendas as boards, venues, churches and village halls lay them out, and pages that only look like one."""

from datetime import UTC, datetime

import pytest

from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

pytestmark = pytest.mark.shows("P1")

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)


def told(body: str, language: str = "nl", title: str = "Agenda") -> list[tuple[object, object]]:
    zone = "Europe/Amsterdam" if language == "nl" else "America/Chicago"
    markup = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    found = read_events(
        Document(markup, "https://a.nl/x"), ReadingContext(now=MONDAY, time_zone=zone, language=language)
    )
    return [(one.fields["title"], str(one.fields["starts"])[:16]) for one in found.records]


def test_the_lines_of_a_paragraph_are_a_list() -> None:
    lines = "16 januari: Nieuwjaarsconcert<br>13 maart: Concert in de kerk, 20.00 uur<br>27 april: Aubade"
    body = f"<h1>Koor</h1><p>{lines}</p>"
    assert told(body) == [
        ("Nieuwjaarsconcert", "2027-01-16"),
        ("Concert in de kerk", "2027-03-13T20:00"),
        ("Aubade", "2027-04-27"),
    ]


def test_dates_and_titles_may_take_turns() -> None:
    body = "<p>Zaterdag 21 november<br>Bladblaasdag<br>Zaterdag 28 november<br>Intocht</p>"
    assert told(body) == [("Bladblaasdag", "2026-11-21"), ("Intocht", "2026-11-28")]


def test_bare_dates_are_no_heading_for_the_note_under_them() -> None:
    body = "<h1>Ethics Commission</h1><h3>2027 Meetings</h3><p>January 8</p><p>April 9</p><p>Held at City Hall.</p>"
    assert told(body, "en", "Ethics Commission") == [
        ("Ethics Commission", "2027-01-08"),
        ("Ethics Commission", "2027-04-09"),
    ]


def test_lines_may_begin_with_a_day_of_the_month_over_them() -> None:
    winter = "<h3>Januari</h3><p>9 Receptie<br>23 Winterloop, 10.00 uur</p>"
    body = f"<h1>Jaarkalender 2027</h1>{winter}<h3>Mei</h3><p>5 Feest</p>"
    assert told(body) == [("Receptie", "2027-01-09"), ("Winterloop", "2027-01-23T10:00"), ("Feest", "2027-05-05")]


def test_a_date_picker_is_no_agenda() -> None:
    picker = "".join(f"<td><a href='#'>{day}</a></td>" for day in range(1, 20))
    rows = "".join(f"<tr><td>{day}/12/2026</td><td>Council {day}</td></tr>" for day in (3, 9))
    body = f"<h4>December 2026</h4><table><tr>{picker}</tr></table><table>{rows}</table>"
    assert told(body) == [("Council 3", "2026-12-03"), ("Council 9", "2026-12-09")]


def test_a_cell_that_is_stamped_with_its_day_holds_several_events() -> None:
    cell = '<td data-date="{}"><i>{}</i>{}</td>'
    links = "<a class=e href=/1><b>5:30p</b><i>Tree Board</i></a><a class=e href=/2><b>7p</b><i>Arts Council</i></a>"
    body = f"<table><tr>{cell.format('2026-11-17', 17, links)}{cell.format('2026-11-18', 18, '')}</tr></table>"
    assert [starts for _, starts in told(body, "en")] == ["2026-11-17T17:30", "2026-11-17T19:00"]


def test_a_date_over_a_list_is_the_day_of_each_item() -> None:
    day = "<div class=dag><h3>{}</h3><ul>{}</ul></div>"
    two = "<li><a href=/2>Koffie</a> 10:00</li><li><a href=/3>Commissie Bestuur</a> 19:30</li>"
    one = "<li><a href=/1>Spreekuur</a> 14:00</li>"
    body = day.format("Vandaag, maandag 16 november", one) + day.format("Dinsdag 17 november", two)
    assert told(body) == [
        ("Spreekuur", "2026-11-16T14:00"),
        ("Koffie", "2026-11-17T10:00"),
        ("Commissie Bestuur", "2026-11-17T19:30"),
    ]


def test_a_card_alone_in_its_section_is_read_like_the_others() -> None:
    card = "<div class=ev><h4>{}</h4><span>{}</span></div>"
    first = card.format("Repaircafé", "17 november, 10:00") + card.format("Soosavond", "20 november, 21:00")
    later = card.format("Viering", "19 december")
    body = f"<div class=b><h2>Deze week</h2>{first}</div><div class=b><h2>Later</h2>{later}</div>"
    assert told(body) == [
        ("Repaircafé", "2026-11-17T10:00"),
        ("Soosavond", "2026-11-20T21:00"),
        ("Viering", "2026-12-19"),
    ]


def test_a_table_of_one_row_is_a_table() -> None:
    head = "<tr><th>Name</th><th>Date</th><th>Duration</th></tr>"
    body = f"<table>{head}<tr><td>City Council</td><td>November 24, 2026</td><td>02h 13m</td></tr></table>"
    assert told(body, "en") == [("City Council", "2026-11-24")]


def test_columns_tell_the_title_from_the_place() -> None:
    head = "<tr><th>Datum</th><th>Plaats</th><th>Tocht</th><th>Starttijd</th></tr>"
    rows = "<tr><td>22 nov</td><td>Epe</td><td>Herfsttocht</td><td>08:00 - 14:00</td></tr>"
    assert told(f"<table>{head}{rows}</table>") == [("Herfsttocht", "2026-11-22T08:00")]


def test_an_event_of_two_days_is_told_twice_and_a_film_once_a_showing() -> None:
    play = "<li><h3>Drie Zusters</h3><p>vr 20 &amp; za 21 november 2026</p><p>20:00 uur</p></li>"
    other = "<li><h3>Sigaar</h3><p>do 19 november 2026</p></li>"
    assert told(f"<ul>{play}{other}</ul>")[:2] == [
        ("Drie Zusters", "2026-11-20T20:00"),
        ("Drie Zusters", "2026-11-21T20:00"),
    ]
    film = "<div class=f><h2>{}</h2><ul><li>do 19 nov 20:00</li><li>zo 22 nov 15:30</li></ul></div>"
    assert told(film.format("Anora") + film.format("Flow"))[:2] == [
        ("Anora", "2026-11-19T20:00"),
        ("Anora", "2026-11-22T15:30"),
    ]


def test_a_row_with_a_column_for_each_sort_of_meeting_has_several_days() -> None:
    head = "<tr><th>Maand</th><th>Commissie</th><th>{}</th></tr>"
    rows = (
        "<tr><td>Januari</td><td>12 januari 2027</td><td>28 januari 2027</td></tr>"
        "<tr><td>Mei</td><td>4 mei 2027</td><td>6 mei 2027</td></tr>"
    )
    table = f"<h1>Gemeenteraad</h1><table>{head}{rows}</table>"
    days = [starts for _, starts in told(table.format("Raad"), title="Gemeenteraad")]
    assert days == ["2027-01-12", "2027-01-28", "2027-05-04", "2027-05-06"]
    assert len(told(table.format("Einddatum"), title="Gemeenteraad")) == 2


def test_the_footer_of_a_card_is_no_footer_of_the_page() -> None:
    card = "<section class=e><h3>{}</h3><footer class=card-footer><span>{}</span></footer></section>"
    body = card.format("Lichtfestival", "11 t/m 13 december 2026") + card.format("Winterparade", "19 december 2026")
    assert told(body) == [("Lichtfestival", "2026-12-11"), ("Winterparade", "2026-12-19")]


def test_several_events_with_labelled_dates_are_a_list() -> None:
    item = "<li><a href=/{0}><h2>{0}</h2></a><dl><dt>Datum</dt><dd>{1}</dd><dt>Locatie</dt><dd>Plein</dd></dl></li>"
    body = f"<h1>Evenementen</h1><ul>{item.format('Kermis', '24-04-2027')}{item.format('Braderie', '27-04-2027')}</ul>"
    assert told(body) == [("Kermis", "2027-04-24"), ("Braderie", "2027-04-27")]


def test_the_sort_of_a_meeting_is_told_after_whose_it_is() -> None:
    dates = "<li>March 4, 2027 - Regular meeting</li><li>March 9, 2027 - Special meeting</li>"
    body = f"<h1>Library Board</h1><ul>{dates}</ul>"
    assert [title for title, _ in told(body, "en", "Library Board")] == [
        "Library Board: Regular meeting",
        "Library Board: Special meeting",
    ]


def test_an_hour_of_its_own_counts_before_one_in_the_text() -> None:
    card = "<li><b>Nov {}</b><h3>Parade {}</h3><p>Line up at 5 PM.</p><i>6:00 PM</i></li>"
    assert told(f"<ul>{card.format(28, 1)}{card.format(29, 2)}</ul>", "en")[0] == ("Parade 1", "2026-11-28T18:00")


def test_a_list_of_papers_tells_its_days_by_the_names_of_files() -> None:
    link = '<a href="/files/{}">{}</a>'
    names = (
        ("2%2014%2027%20AGENDA.pdf", "February"),
        ("Agenda_2027-03-14.pdf", "March"),
        ("May%209%202027.pdf", "May"),
    )
    body = f"<h1>Board of Health</h1><p>{' - '.join(link.format(*name) for name in names)}</p>"
    assert told(body, "en", "Board of Health") == [
        ("Board of Health", day) for day in ("2027-02-14", "2027-03-14", "2027-05-09")
    ]


@pytest.mark.parametrize(
    "title", ["Small Town Saturday", "Toddler Time", "Van Gogh", "Show Boat", "To Kill a Mockingbird"]
)
def test_words_that_join_dates_stay_in_titles(title: str) -> None:
    card = f"<li><h3>{title}</h3><p>November 28, 2026</p></li>"
    assert told(f"<ul>{card}<li><h3>Other</h3><p>November 29, 2026</p></li></ul>", "en")[0][0] == title


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Nieuws</h1>" + "<article><h2>Weg dicht</h2><p class=datum>12 november 2026</p></article>" * 2,
        "<article><h2>Leaves</h2><p>Posted on <time datetime=2026-11-02>November 2</time> by Al</p></article>" * 2,
        "<h1>Vacatures</h1><ul><li>Boswachter 4 december 2026</li><li>Griffier 5 december 2026</li></ul>",
        "<table><tr><th>Position</th><th>Posted</th></tr><tr><td>Engineer</td><td>11/02/2026</td></tr></table>",
        "<h1>Trails</h1><p class=byline>By Sam Hill | October 3, 2026 | 5 min read</p>",
        "<p>Het museum is open van 11.00 tot 17.00 uur. Gesloten op 25 december en 1 januari.</p>",
        "<p>De school is op 12 maart 2004 met elf man begonnen.</p><p>De statuten van 3 april 1987 gelden nog.</p>",
        "<ul><li><a href=?d=0>Vandaag</a></li><li><a href=?d=1>Morgen</a></li></ul>",
        "<h1>Policy</h1><p>Effective date: July 1, 2025</p><p>Revised: March 3, 2026</p>",
        "<h1>Privacy</h1><p>Gewijzigd op 1 mei 2026.</p><p>Versie 2.1, geldig vanaf 1 mei 2026.</p>",
        "<p>First half is due April 30, 2027.</p><p>Mail it postmarked by April 30.</p>",
    ],
)  # fmt: skip
def test_pages_that_only_name_dates_are_no_agenda(body: str) -> None:
    assert told(f"<main>{body}</main>", title="Pagina") == []


def test_a_day_without_events_has_none() -> None:
    busy = "<h3>Wednesday, November 18</h3><p>10:00 a.m. <a href=/1>Ethics Board</a></p>"
    body = f"{busy}<h3>Friday, November 20</h3><p>No meetings scheduled</p>"
    assert told(body, "en") == [("Ethics Board", "2026-11-18T10:00")]
