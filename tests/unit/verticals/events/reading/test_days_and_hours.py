"""Days and hours as calendars of clubs, halls and towns tell them: by stamps, in plain text, in excerpts, alone."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)
ENGLISH = ReadingContext(now=NOW, time_zone="America/New_York", language="en")
DUTCH = ReadingContext(now=NOW, time_zone="Europe/Amsterdam", language="nl")


def read(body: str, context: ReadingContext = ENGLISH) -> list[RawRecord]:
    markup = f"<html><head><title>Club</title></head><body><main>{body}</main></body></html>"
    found = read_events(Document(markup, "https://club.example/calendar"), context).records
    return [one for one in found if "starts" in one.fields]


def told(body: str, context: ReadingContext = ENGLISH) -> list[tuple[str, str]]:
    return [(str(one.fields["starts"])[:16], str(one.fields["title"])) for one in read(body, context)]


@pytest.mark.shows("E2")
def test_lines_of_preformatted_text_are_events() -> None:
    lines = "Mar 14  Swap meet, 8am\nMar 26  Winter meeting, 7pm\nApr 11  Field day, 9am"
    assert told(f"<h1>Radio Club</h1><pre>{lines}</pre>") == [
        ("2026-03-14T08:00", "Swap meet"),
        ("2026-03-26T19:00", "Winter meeting"),
        ("2026-04-11T09:00", "Field day"),
    ]


def test_stamped_days_hold_as_many_events_as_they_have_links() -> None:
    entries = {5: "<a href=1>6:30p Bike Kitchen</a>", 18: "<a href=2>12p Lunch</a><a href=3>7p Film</a>"}
    days = "".join(
        f"<div class=day data-date=2026-03-{day:02}><i>{day}</i>{entries.get(day, '')}</div>" for day in range(1, 32)
    )
    assert told(f"<h2>March 2026</h2><div>{days}</div>") == [
        ("2026-03-05T18:30", "Bike Kitchen"),
        ("2026-03-18T12:00", "Lunch"),
        ("2026-03-18T19:00", "Film"),
    ]


def test_hours_behind_a_day_are_no_further_days() -> None:
    cards = "".join(f"<div class=oh><b>{name}</b><br>Sunday, March 8, {hours}</div>" for name, hours in
                    (("12 Birch Lane", "1-3 pm"), ("77 Fern Court", "2 to 4 pm")))  # fmt: skip
    assert told(cards) == [("2026-03-08T13:00", "12 Birch Lane"), ("2026-03-08T14:00", "77 Fern Court")]


def test_an_excerpt_opens_with_its_day_and_hour_and_news_with_its_day() -> None:
    rest = "AGENDA call to order; minutes; report of the treasurer; personnel; purchases of books and periodicals; " * 4
    notices = "".join(
        f"<article><h2><a href=/{day}>{name}</a></h2><p>{day}, 2026 Trustees Room 12:00 Noon {rest}</p></article>"
        for name, day in (("Special Board Meeting", "March 12"), ("Finance Committee", "March 17"))
    )
    assert told(notices) == [("2026-03-12T12:00", "Special Board Meeting"), ("2026-03-17T12:00", "Finance Committee")]
    news = "".join(
        f"<article><h2><a href=/{day}>{name}</a></h2><p>SPRINGFIELD, {day}, 2026 - The mayor spoke. "
        f"{rest}</p></article>"
        for name, day in (("Bridge opens", "January 12"), ("Pool closes", "January 17"))
    )
    assert told(news) == []


def test_a_weekday_with_an_hour_is_the_coming_one() -> None:
    cards = "".join(
        f"<section class=c><a href=/{name}><h3>{name}</h3></a><p>{day}</p></section>"
        for name, day in (("Square Dance", "Saturday at 6:00 PM"), ("Beekeeping", "Sun, Mar 15, 10:00 AM"))
    )
    assert told(cards) == [("2026-02-14T18:00", "Square Dance"), ("2026-03-15T10:00", "Beekeeping")]


def test_the_only_line_under_a_month_has_its_hour() -> None:
    body = (
        "<h1>Activiteiten</h1><h3>Maart</h3><ul><li>6 Bingo, 20.00 uur</li><li>14 Markt, 10.00 uur</li></ul>"
        "<h3>April</h3><ul><li>3 Klaverjassen, 20.00 uur</li></ul>"
    )
    assert told(body, DUTCH)[-1] == ("2026-04-03T20:00", "Klaverjassen")


def test_what_lies_open_for_inspection_is_no_event() -> None:
    body = (
        "<h1>Plan Noord</h1><p>Het ontwerp ligt van 6 maart tot en met 16 april 2026 ter inzage.</p>"
        "<p>Op dinsdag 17 maart 2026 is er een inloopavond van 19.00 tot 21.00 uur in dorpshuis De Brink.</p>"
    )
    assert [start for start, _ in told(body, DUTCH)] == ["2026-03-17T19:00"]


def test_the_last_cell_of_a_table_without_names_is_where_it_is() -> None:
    rows = "".join(
        f"<tr><td>{day}</td><td>19:30</td><td>{name}</td><td>{place}</td></tr>"
        for day, name, place in (("14-03-2026", "Jaarvergadering", "Clubgebouw"), ("12-04-2026", "Schoonmaak", "Veld"))
    )
    assert [one.fields.get("place") for one in read(f"<table>{rows}</table>", DUTCH)] == ["Clubgebouw", "Veld"]
