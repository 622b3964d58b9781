"""Schedules that say things once, and events that no list of the page shows."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)
CONTEXT = ReadingContext(now=NOW, time_zone="America/New_York", language="en")


def read(body: str, title: str = "Parks Board - Town of Example") -> list[RawRecord]:
    markup = f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"
    return list(read_events(Document(markup, "https://town.example/meetings"), CONTEXT).records)


def starts(body: str, title: str = "Parks Board - Town of Example") -> list[str]:
    return [str(record.fields["starts"])[:16] for record in read(body, title)]


@pytest.mark.shows("E2")
def test_the_lines_above_a_list_of_bare_dates_hold_for_all_of_them() -> None:
    records = read(
        "<h1>Reentry Coalition</h1><div><strong>Meeting Schedule</strong><br>12 Main Street<br>Blue Room, 6th Floor<br>"
        "10:00 a.m. - 11:30 a.m.<br>Meetings are held on:<ul><li>Friday, March 6, 2026</li>"
        "<li>Friday, April 3, 2026</li><li>Friday, May 1, 2026</li></ul></div>"
    )
    assert [str(one.fields["starts"])[:16] for one in records] == [
        "2026-03-06T10:00",
        "2026-04-03T10:00",
        "2026-05-01T10:00",
    ]
    assert {one.fields["place"] for one in records} == {"12 Main Street, Blue Room, 6th Floor"}


def test_a_row_with_a_date_of_its_own_belongs_to_no_date_above_it() -> None:
    listed = (
        "<p>March 3, 2026 at 2 p.m.</p><p>April 7, 2026 at 11 a.m. (Special Meeting)</p><p>May 5, 2026 at 2 p.m.</p>"
    )
    assert starts(f"<h1>Parks Board</h1>{listed}") == ["2026-03-03T14:00", "2026-04-07T11:00", "2026-05-05T14:00"]


def test_a_caption_over_all_columns_is_not_the_tables_head() -> None:
    table = (
        "<table><tr><td colspan=3>2026 Meeting Schedule</td></tr><tr><td>Meeting Date</td><td>Agenda</td>"
        "<td>Minutes</td></tr><tr><td>March 3</td><td><a href=a.pdf><img></a></td><td></td></tr><tr>"
        "<td>April 7</td><td></td><td></td></tr>"
        "</table>"
    )
    records = read(table, title="")
    assert [(one.fields["title"], one.fields["starts"]) for one in records] == [
        ("Meeting", "2026-03-03"),
        ("Meeting", "2026-04-07"),
    ]


def test_a_long_notice_tells_its_hour_in_a_sentence() -> None:
    prose = "Members may attend in person or from afar, and the public is invited to either. " * 5
    notices = "".join(
        f"<div class=notice><h2>{day}, 2026</h2>"
        f"<p>The Parks Board will meet at 8:00 a.m. on {day}, 2026. {prose}</p></div>"
        for day in ("March 6", "April 3", "May 1")
    )
    assert starts(notices) == ["2026-03-06T08:00", "2026-04-03T08:00", "2026-05-01T08:00"]


@pytest.mark.parametrize(
    "body",
    [
        (
            '<div id="cal"></div><script>$("#cal").fullCalendar({events:[{"title":"Council",'
            '"start":"2026-03-03T19:00:00"},'
            '{"title":"Hearing","start":"2026-03-10T18:30:00"}]});</script>'
        ),
        (
            '<script id="__NEXT_DATA__" type="application/json">{"props":{"events":[{"name":"Council","startDate":'
            '"2026-03-03T19:00:00","venue":{"name":"Hall"}},{"name":"Hearing","startDate":"2026-03-10T18:30:00"}]}}</script>'
        ),
    ],
)
def test_events_are_read_from_the_json_of_a_page_that_shows_none(body: str) -> None:
    assert [(one.fields["title"], str(one.fields["starts"])[:16]) for one in read(body)] == [
        ("Council", "2026-03-03T19:00"),
        ("Hearing", "2026-03-10T18:30"),
    ]


def test_json_about_anything_else_is_no_event() -> None:
    assert (
        read('<script>var posts = [{"title":"Hello","date":"yesterday"},{"title":"Two","date":"soon"}];</script>') == []
    )


def test_the_dates_of_a_drop_down_are_meetings_at_the_hour_that_the_page_states() -> None:
    body = (
        "<h1>Parks Board</h1><p>Meetings are held at 7:00 p.m. in the Council Chambers.</p><select>"
        "<option>Choose</option><option>March 3, 2026</option><option>April 7, 2026</option></select>"
    )
    assert starts(body) == ["2026-03-03T19:00", "2026-04-07T19:00"]


def test_a_sentence_announces_the_next_meeting() -> None:
    body = (
        "<h1>Parks Board</h1><p>The next meeting of the Parks Board will be held on Tuesday, March 3, 2026 at 7 p.m."
        " in the Council Chambers at Town Hall, 12 Main Street.</p>"
    )
    assert starts(body) == ["2026-03-03T19:00"]


def test_an_hcalendar_tells_its_hour_in_a_title() -> None:
    body = (
        '<h1>Events</h1><div class="vevent"><span class="summary">Spring fair</span> <abbr class="dtstart"'
        ' title="2026-03-14T10:00">March 14</abbr></div><div class="vevent"><span class="summary">Book sale</span>'
        ' <abbr class="dtstart" title="2026-03-21T09:00">March 21</abbr></div>'
    )
    assert starts(body) == ["2026-03-14T10:00", "2026-03-21T09:00"]
