"""What a page states once holds for all its dates."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import Found
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

NOW = ReadingContext(now=datetime(2026, 2, 1, 12, tzinfo=UTC), time_zone="America/New_York", language="en")
DATES = "<h2>2026 Meeting Dates</h2><ul><li>March 3, 2026</li><li>April 7, 2026</li><li>May 5, 2026</li></ul>"


def read(markup: str) -> Found:
    page = f"<html><head><title>Library Board</title></head><body><h1>Library Board</h1>{markup}</body></html>"
    return read_events(Document(page, "https://town.example/board"), NOW)


def test_the_hour_and_the_place_of_the_introduction_hold_for_every_bare_date() -> None:
    intro = "<p>The Board meets on the first Tuesday at 6:30 p.m. in the Council Chambers, 12 Main Street.</p>"
    records = read(intro + DATES).records
    assert [record.fields["starts"][:16] for record in records] == [
        "2026-03-03T18:30", "2026-04-07T18:30", "2026-05-05T18:30",
    ]  # fmt: skip
    assert {record.fields["place"] for record in records} == {"Council Chambers, 12 Main Street"}
    assert {record.fields["title"] for record in records} == {"Library Board"}


def test_an_entrys_own_hour_outweighs_the_introduction() -> None:
    dates = DATES.replace("April 7, 2026", "April 7, 2026 at 9:00 a.m.")
    records = read(f"<p>Meetings are held at 6:30 p.m. at City Hall.</p>{dates}").records
    assert [record.fields["starts"][11:16] for record in records] == ["18:30", "09:00", "18:30"]


def test_a_sentence_about_one_day_says_nothing_of_the_others() -> None:
    records = read(f"<p>A special meeting on March 3, 2026 is held at 8:00 a.m.</p>{DATES}").records
    april = next(record for record in records if record.fields["starts"].startswith("2026-04"))
    assert april.fields["starts"] == "2026-04-07"


def test_the_only_address_of_a_page_is_where_its_meetings_are() -> None:
    records = read(f"{DATES}<div>Office: 601 Walnut Street Suite 325, Philadelphia, PA 19106</div>").records
    assert {record.fields["place"] for record in records} == {
        "601 Walnut Street Suite 325, Philadelphia, PA 19106"
    }  # fmt: skip


@pytest.mark.parametrize(
    "label", ["Download \u25bc", "Agenda & Documents Meeting Summary", "tentative", "Photo Gallery"]
)
def test_a_buttons_label_is_no_title(label: str) -> None:
    rows = "".join(
        f'<li>{day} <a href="/d/{place}">{label}</a></li>'
        for place, day in enumerate(("March 3, 2026", "April 7, 2026", "May 5, 2026"))
    )
    assert {record.fields["title"] for record in read(f"<ul>{rows}</ul>").records} == {"Library Board"}


def test_a_headings_year_is_not_believed_against_the_weekday() -> None:
    markup = """<h2>Opgericht in 2014</h2><ul><li>zaterdag 14 maart 20:00 Jazz in de kerk</li>
    <li>zondag 15 maart 20:00 Blues in de kerk</li><li>zaterdag 21 maart 20:00 Soul in de kerk</li></ul>"""
    context = ReadingContext(now=datetime(2026, 2, 1, 12, tzinfo=UTC), time_zone="Europe/Amsterdam", language="nl")
    records = read_events(Document(f"<html><body>{markup}</body></html>", "https://kerk.example/"), context).records
    assert [record.fields["starts"][:10] for record in records] == ["2026-03-14", "2026-03-15", "2026-03-21"]
