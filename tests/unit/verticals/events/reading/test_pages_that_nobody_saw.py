"""Rules that were found on pages written before the reader was read: what is announced, by whom and where."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

CONTEXT = ReadingContext(now=datetime(2022, 11, 3, 12, tzinfo=UTC), time_zone="America/New_York", language="en")
BOARD = "Planning Board - Town of Example"


def read(
    body: str, title: str = BOARD, url: str = "https://town.example/x", context: ReadingContext = CONTEXT
) -> list[RawRecord]:
    markup = f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"
    return list(read_events(Document(markup, url), context).records)


def told(records: list[RawRecord]) -> list[tuple[str, str, str]]:
    return [
        (str(one.fields["title"]), str(one.fields["starts"])[:16], str(one.fields.get("place", ""))) for one in records
    ]


@pytest.mark.shows("E2")
def test_a_sentence_announces_and_the_day_of_minutes_does_not() -> None:
    body = (
        "<h1>Planning Board</h1><p>The next meeting of the Planning Board of the Town of Example and its committees"
        " will be held on Monday, November 14, 2022 at 7:30 p.m. at Village Hall, 12 Center Street.</p>"
        "<p>Minutes of the October 10, 2022 meeting are <a href=m.pdf>available here</a>.</p>"
    )
    assert told(read(body)) == [("Planning Board", "2022-11-14T19:30", "Village Hall, 12 Center Street")]


def test_approved_minutes_are_of_another_day() -> None:
    body = "<p><b>HISTORIC COMMISSION</b></p><p>Tuesday, November 8, 2022 - 4:00 PM<br>City Hall, Room 301</p>"
    body += "<ol><li>Call to Order</li><li>Approval of Minutes of October 11, 2022</li></ol>"
    assert told(read(body, title="Agenda")) == [("HISTORIC COMMISSION", "2022-11-08T16:00", "City Hall, Room 301")]


def test_a_months_row_has_a_day_for_each_column() -> None:
    body = (
        "<h1>Planning Board</h1><p>All meetings begin at 6:00 PM in the Administration Building, Room 114.</p><table>"
        "<tr><th>Month</th><th>Work Session</th><th>Business Meeting</th></tr>"
        "<tr><td>November</td><td>7</td><td>21</td></tr><tr><td>January</td><td>9</td><td>23</td></tr></table>"
    )
    place = "Administration Building, Room 114"
    assert told(read(body)) == [
        ("Planning Board: Work Session", "2022-11-07T18:00", place),
        ("Planning Board: Business Meeting", "2022-11-21T18:00", place),
        ("Planning Board: Work Session", "2023-01-09T18:00", place),
        ("Planning Board: Business Meeting", "2023-01-23T18:00", place),
    ]


def test_a_drop_down_menu_of_days_is_a_schedule_and_one_of_pages_is_none() -> None:
    menu = '<div class="dropdown"><a data-toggle="dropdown">Please choose</a><div class="dropdown-menu">{}</div></div>'
    days = "".join(
        f'<a href="/{day}.pdf">{day}</a>' for day in ("December 8, 2022", "January 12, 2023", "March 9, 2023")
    )
    pages = '<a href="/1">Budget</a><a href="/2">Staff</a><a href="/3">Meeting of January 19, 2023</a>'
    body = f"<h2>Zoning Board</h2>{menu.format(days)}{menu.format(pages)}"
    assert [(title, start) for title, start, _ in told(read(body))] == [
        ("Zoning Board", "2022-12-08"),
        ("Zoning Board", "2023-01-12"),
        ("Zoning Board", "2023-03-09"),
    ]


def test_where_people_meet_by_a_screen_is_no_title() -> None:
    table = "<table><tr><th>Date</th><th>Time</th><th>Place</th></tr>{}</table>"
    rows = (
        "<tr><td>Wednesday, December 7, 2022</td><td>2:00 PM</td><td>Main Hall</td></tr>"
        "<tr><td>Wednesday, January 4, 2023</td><td>2:30 PM</td><td>Via teleconference</td></tr>"
    )
    titles = [title for title, _, _ in told(read(f"<h1>Planning Board</h1>{table.format(rows)}"))]
    assert titles == ["Planning Board", "Planning Board"]


def test_a_list_of_the_boards_days_is_named_after_the_one_board_that_the_page_names() -> None:
    body = (
        "<h1>Board Meetings</h1><p>Regular meetings of the Board of Directors are held at 9:00 a.m. at the District"
        " Office, 2300 Canal Road.</p><ul><li>January 18, 2023 <a>Agenda</a></li><li>February 15, 2023"
        " <a>Agenda</a></li></ul>"
    )
    titles = {title for title, _, _ in told(read(body, title="Board Meetings - Example Water District"))}
    assert titles == {"Example Water District: Board of Directors"}


def test_what_follows_an_at_sign_is_where_and_what_is_in_brackets_is_a_remark() -> None:
    lines = "<ul><li>Thursday, December 8 @ Sheil Park</li><li>Thursday, January 12 (Annual budget)</li></ul>"
    assert told(read(f"<h1>Planning Board</h1>{lines}")) == [
        ("Planning Board", "2022-12-08", "Sheil Park"),
        ("Planning Board: Annual budget", "2023-01-12", ""),
    ]


def test_a_label_names_the_meeting_and_its_place() -> None:
    body = (
        "<table><tr><td>Meeting Name:</td><td><a>City Council</a></td></tr><tr><td>Meeting date/time:"
        "</td><td>12/8/2022 10:00 AM</td></tr><tr><td>Meeting location:</td>"
        "<td>Council Chambers, 5th Floor</td></tr></table>"
    )
    assert told(read(body)) == [("City Council", "2022-12-08T10:00", "Council Chambers, 5th Floor")]


def test_the_day_of_a_piece_of_news_is_no_event() -> None:
    article = "<h1>Mayor announces a plan</h1><p class=date>November 2, 2022</p><p>The mayor announced a new plan.</p>"
    assert read(article, title="Mayor announces a plan", url="https://town.example/news/plan") == []


@pytest.mark.parametrize(
    ("language", "written", "days"),
    [
        ("de", "20.06. - 31.08.2024", ("2024-06-20", "2024-08-31")),
        ("de", "05.06. bis 12.07.2024", ("2024-06-05", "2024-07-12")),
        ("nl", "20-06 t/m 31-08-2024", ("2024-06-20", "2024-08-31")),
        ("de", "28.12. - 05.01.2025", ("2024-12-28", "2025-01-05")),
    ],
)
def test_days_in_digits_share_the_year_of_the_last(language: str, written: str, days: tuple[str, str]) -> None:
    context = ReadingContext(now=datetime(2024, 6, 1, tzinfo=UTC), time_zone="Europe/Berlin", language=language)
    (one,) = read(f"<h1>Wasser</h1><p>{written}</p>", title="Wasser", context=context)
    assert (str(one.fields["starts"])[:10], str(one.fields["ends"])[:10]) == days


def test_the_last_day_of_something_is_not_the_day_of_an_event() -> None:
    cards = (
        "<ul><li><a href=/1><h3>Masters of Light</h3><p>Until 7 January 2023</p></a></li>"
        "<li><a href=/2><h3>Jazz Night</h3><p>Fri 11 Nov, 6pm - 10pm</p></a></li></ul>"
    )
    assert [title for title, _, _ in told(read(f"<h1>What's On</h1>{cards}"))] == ["Jazz Night"]


def test_days_on_which_offices_are_closed_are_no_events() -> None:
    days = "<ul><li>November 24, 2022 - Thanksgiving Day</li><li>December 26, 2022 - Christmas Day</li></ul>"
    assert read(f"<h1>City Holidays</h1><p>City offices will be closed:</p>{days}", title="Holidays") == []


def test_a_notice_says_whose_hearing_it_announces() -> None:
    notice = (
        "<center><b>PUBLIC NOTICE</b></center><p>NOTICE IS HEREBY GIVEN that the Elm Redevelopment Commission"
        " will hold a public hearing on Wednesday, December 7, 2022, at 4:00 p.m. in the Council Chambers, City Hall, 1"
        " Civic Plaza.</p><p>Dated: November 1, 2022</p>"
    )
    assert [(title, start) for title, start, _ in told(read(notice, title="Public Notice"))] == [
        ("Elm Redevelopment Commission", "2022-12-07T16:00")
    ]


def test_what_stands_between_bars_or_in_pieces_of_a_link_is_title_and_place() -> None:
    lines = (
        "<p>Sat Dec 10 | 8:00 pm | Grace Church, Elm | Advent Concert</p>"
        "<p>Sun Dec 11 | 2:00 pm | Town Hall | Family Concert</p>"
    )
    assert told(read(f"<h1>Concerts</h1>{lines}", title="Choir")) == [
        ("Advent Concert", "2022-12-10T20:00", "Grace Church, Elm"),
        ("Family Concert", "2022-12-11T14:00", "Town Hall"),
    ]
    links = "".join(
        f"<li><a href=/{day}><span>{day} December 2022</span><span>{title}</span><span>Market Hall</span></a></li>"
        for day, title in ((3, "Harbour Days"), (4, "Street Music"))
    )
    assert [(title, place) for title, _, place in told(read(f"<ul>{links}</ul>", title="What's on"))] == [
        ("Harbour Days", "Market Hall"),
        ("Street Music", "Market Hall"),
    ]
