"""Dates on a page that are no events: terms of office, deadlines, papers of one meeting, news, what was "
"decided when."""

from datetime import UTC, datetime

import pytest

from tidemill.core.record import RawRecord
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events

NOW = datetime(2026, 2, 10, 12, tzinfo=UTC)
ENGLISH = ReadingContext(now=NOW, time_zone="America/New_York", language="en")
DUTCH = ReadingContext(now=NOW, time_zone="Europe/Amsterdam", language="nl")


def read(body: str, context: ReadingContext = ENGLISH, title: str = "Harbour Board") -> list[RawRecord]:
    markup = f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"
    return [
        one
        for one in read_events(Document(markup, "https://town.example/board"), context).records
        if "starts" in one.fields
    ]


def told(records: list[RawRecord]) -> list[tuple[str, str]]:
    return [(str(one.fields["starts"])[:16], str(one.fields["title"])) for one in records]


def table(head: str, *rows: str) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{one}</td>" for one in row.split("|")) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{one}</th>' for one in head.split('|'))}</tr>{cells}</table>"


@pytest.mark.shows("E2")
@pytest.mark.parametrize(
    "head",
    ["Name|Term Ends|Appointed by", "Naam|Zittingstermijn tot|Benoemd door", "Document|Last modified|Size",
     "Position|Closing date|Department", "Onderwerp|Gepubliceerd|Ter inzage"],
)  # fmt: skip
def test_a_column_of_terms_or_deadlines_holds_no_events(head: str) -> None:
    rows = ("Ann Lee|June 30, 2027|Mayor", "Bob Ray|June 30, 2028|Council", "Cy Fox|June 30, 2026|Mayor")
    assert told(read(f"<h1>Harbour Board</h1>{table(head, *rows)}")) == []


def test_a_deadline_beside_a_date_is_not_mixed_into_it() -> None:
    rows = ("March 12|February 11, 2026", "April 9|March 12", "May 14|April 9")
    found = read(f"<h1>Zoning Board</h1><h2>2026</h2>{table('Meeting Date|Submittal Deadline', *rows)}", title="")
    assert [start for start, _ in told(found)] == ["2026-03-12", "2026-04-09", "2026-05-14"]


@pytest.mark.parametrize(
    "line",
    [
        "Applications are accepted by May 1, 2026.",
        "Deadline for proposals: May 1, 2026",
        "Objections may be filed until May 15, 2026.",
        "Members serve through their terms; Ann Lee, term expires June 30, 2027",
        "Owned by admin on Friday, March 6, 2026",
        "Application received April 2, 2026: 12 Elm St, deck",
    ],
)
def test_what_is_due_or_received_by_a_day_is_no_event(line: str) -> None:
    assert told(read(f"<h1>Permits</h1><p>{line}</p>", title="Permits")) == []


@pytest.mark.shows("E2")
def test_papers_of_one_meeting_are_one_event_named_after_the_meeting() -> None:
    papers = "".join(
        f'<li><a href="/{day}-{kind}.pdf">{day}, 2026 Harbour Board Meeting {kind}</a></li>'
        for day in ("March 12", "April 9")
        for kind in ("Agenda", "Minutes", "Notice and Agenda", "Packet")
    )
    assert told(read(f"<h1>Harbour Board</h1><ul>{papers}</ul>")) == [
        ("2026-03-12", "Harbour Board Meeting"),
        ("2026-04-09", "Harbour Board Meeting"),
    ]


def test_two_bodies_that_meet_on_one_day_stay_two_events() -> None:
    papers = "".join(
        f'<li><a href="/{body}.pdf">March 12, 2026 {body} Meeting {kind}</a></li>'
        for body in ("Harbour", "Fisheries")
        for kind in ("Agenda", "Minutes")
    )
    assert [title for _, title in told(read(f"<ul>{papers}</ul>"))] == ["Harbour Meeting", "Fisheries Meeting"]


def test_a_notice_that_a_meeting_is_cancelled_says_so_of_the_meeting() -> None:
    lines = "".join(
        f'<li><a href="/{day}.pdf">{day}, 2026 Harbour Board Meeting {kind}</a></li>'
        for day, kind in (("March 12", "Agenda"), ("March 12", "Cancellation Notice"), ("April 9", "Agenda"))
    )
    assert [(one.fields["title"], one.fields.get("status")) for one in read(f"<ul>{lines}</ul>")] == [
        ("Harbour Board Meeting", "cancelled"),
        ("Harbour Board Meeting", None),
    ]


@pytest.mark.parametrize("name", ["Holiday presentation", "Ten minutes", "Video night", "Book summary"])
def test_a_paper_is_only_taken_off_where_a_meeting_is_named(name: str) -> None:
    listed = "".join(f"<li>{day}, 2026, 7 pm: {name}</li>" for day in ("March 12", "April 9"))
    assert {title for _, title in told(read(f"<ul>{listed}</ul>"))} == {name}


def test_a_meeting_in_a_list_and_in_its_archive_is_told_once() -> None:
    upcoming = table("Date|Meeting", "03/12/2026 - 6:00pm|Harbour Council", "04/09/2026 - 6:00pm|Harbour Council")
    archive = table("Date|Video", "March 12, 2026|Harbour Council", "April 9, 2026|Harbour Council")
    assert told(read(upcoming + archive)) == [
        ("2026-03-12T18:00", "Harbour Council"),
        ("2026-04-09T18:00", "Harbour Council"),
    ]


def test_what_an_agenda_refers_to_was_decided_another_day() -> None:
    line = "D-{} Petition for a conditional use of the old tower at 550 East Wilbeth Road, as amended (2/{}/26)"
    body = "".join(f"<p>{line.format(number, number)}</p>" for number in (12, 16, 23))
    assert told(read(body, title="")) == []


def test_a_sentence_about_all_meetings_is_no_title() -> None:
    body = (
        "<h1>Harbour Board</h1><h2>Official meetings of the board are live streamed</h2>"
        "<ul><li>March 12, 2026</li><li>April 9, 2026</li></ul>"
    )
    assert {title for _, title in told(read(body))} == {"Harbour Board"}


def test_the_body_that_will_meet_is_the_title() -> None:
    body = "".join(
        f"<div class=n><h2>{day}, 2026</h2><p>The Finance Committee will meet at 9:00 a.m. on {day}, 2026.</p></div>"
        for day in ("March 12", "April 9", "May 14")
    )
    assert {title for _, title in told(read(body))} == {"Finance Committee"}


@pytest.mark.parametrize("heading", ["Public Comments", "Annual reports", "Nieuwsbrieven", "Resolutions"])
def test_days_gone_by_under_a_heading_of_writings_are_no_events(heading: str) -> None:
    body = "".join(f"<li>{day}</li>" for day in ("January 6, 2026", "January 13, 2026", "January 20, 2026"))
    assert told(read(f"<h1>Harbour Board</h1><h2>{heading}</h2><ul>{body}</ul>")) == []


def test_a_month_of_any_language_in_a_heading_dates_the_days_under_it() -> None:
    rows = ("Mo 2.|17:00|Bauausschuss|Raum 12", "Mi 4.|18:00|Stadtrat|Saal", "Di 17.|16:30|Jugendrat|Raum 4")
    body = f"<h1>Sitzungskalender M\u00e4rz 2026</h1>{table('Tag|Zeit|Gremium|Raum', *rows)}"
    found = read(body, ReadingContext(now=NOW, time_zone="Europe/Berlin", language="de"), title="Sitzungen")
    assert [(*each, one.fields.get("place")) for each, one in zip(told(found), found, strict=True)] == [
        ("2026-03-02T17:00", "Bauausschuss", "Raum 12"),
        ("2026-03-04T18:00", "Stadtrat", "Saal"),
        ("2026-03-17T16:30", "Jugendrat", "Raum 4"),
    ]


def test_a_day_over_lines_by_the_hour_holds_an_event_a_line() -> None:
    body = (
        "<h1>Diary</h1><p><strong>Sunday 1st March</strong><br>10.30am Family Service<br>6pm Evensong</p>"
        "<p><strong>Thursday 5th March</strong><br>7.30pm Choir</p>"
    )
    assert told(read(body)) == [
        ("2026-03-01T10:30", "Family Service"),
        ("2026-03-01T18:00", "Evensong"),
        ("2026-03-05T19:30", "Choir"),
    ]


@pytest.mark.parametrize(
    ("context", "stated", "place"),
    [
        (DUTCH, "Het komt bijeen in wijkgebouw De Schakel, Kerkstraat 12.", "wijkgebouw De Schakel, Kerkstraat 12"),
        (ENGLISH, "Meets each month, 7:00 p.m., Township Hall, 8000 Lake Rd.", "Township Hall, 8000 Lake Rd"),
        (ENGLISH, "The board holds meetings at the Treasurer's Office. ", "Treasurer's Office"),
    ],
)  # fmt: skip
def test_a_place_stated_once_is_found_in_a_sentence(context: ReadingContext, stated: str, place: str) -> None:
    body = f"<h1>Overleg</h1>{stated}<ul><li>12-03-2026</li><li>09-04-2026</li></ul>"
    assert {one.fields.get("place") for one in read(body, context, title="Overleg")} == {place}


def headed(head: str, *rows: str) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{one}</td>" for one in row.split("|")) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{one}</th>' for one in head.split('|'))}</tr>{cells}</table>"


@pytest.mark.parametrize(
    "head", ["Policy|Adopted|Next review", "Permit|Issued|Valid through", "Title|Bid opening|Status"]
)
def test_only_a_column_that_is_called_like_one_holds_days_of_events(head: str) -> None:
    rows = ("Use of halls|1/13/2026|1/13/2029", "Field trips|12/9/2025|12/9/2028", "Conduct|11/11/2025|11/11/2028")
    assert told(read(f"<h1>Harbour Board</h1>{headed(head, *rows)}")) == []


@pytest.mark.parametrize(
    "head", ["Class|Starts|Location", "Was|Wann|Wo", "Titre|Date|Lieu", "Wat|Dag|Waar", "Name|Meeting Date|Room"]
)
def test_a_column_of_days_holds_events(head: str) -> None:
    rows = ("Tai Chi|12.03.2026|Studio", "Pottery|19.03.2026|Studio", "Choir|26.03.2026|Studio")
    found = read(headed(head, *rows), DUTCH)
    assert [start for start, _ in told(found)] == ["2026-03-12", "2026-03-19", "2026-03-26"]


@pytest.mark.parametrize("heading", ["We are closed on", "Bid opportunities", "Holidays observed", "Holiday closures"])
def test_days_under_a_heading_of_closures_or_bids_are_no_events(heading: str) -> None:
    body = "<li>April 3, 2026 - Good Friday</li><li>May 25, 2026 - Memorial Day</li><li>July 4, 2026 - Our day</li>"
    assert told(read(f"<h1>Library</h1><h2>{heading}</h2><ul>{body}</ul>")) == []


@pytest.mark.parametrize(
    "line",
    [
        "Closed for Presidents' Day, Monday March 16, 2026",
        "Registration opens March 3, 2026.",
        "Refunds are possible until March 14, 2026.",
        "On sale Friday, March 6, 2026",
    ],
)
def test_when_doors_are_closed_or_sales_begin_is_no_event(line: str) -> None:
    assert told(read(f"<h1>Spring classes</h1><p>{line}</p>", title="Spring classes")) == []


def test_a_date_that_spans_rows_dates_each_of_them() -> None:
    rows = (
        "<tr><td rowspan=2>Friday, June 5, 2026</td><td>4:00 pm</td><td>Opening</td></tr>"
        "<tr><td>6:00 pm</td><td>Chowder contest</td></tr>"
        "<tr><td rowspan=2>Saturday, June 6, 2026</td><td>10:00 am</td><td>Boat parade</td></tr>"
        "<tr><td>9:30 pm</td><td>Fireworks</td></tr>"
    )
    assert told(read(f"<h1>Harbour Days</h1><table>{rows}</table>")) == [
        ("2026-06-05T16:00", "Opening"),
        ("2026-06-05T18:00", "Chowder contest"),
        ("2026-06-06T10:00", "Boat parade"),
        ("2026-06-06T21:30", "Fireworks"),
    ]


def test_a_label_is_no_title_and_a_labelled_title_is() -> None:
    notices = "".join(
        f"<div class=n><p><b>Agency:</b> Water</p><p><b>Meeting:</b> {name}</p><p><b>When:</b> {day}</p></div>"
        for name, day in (("Quarterly Review", "Mar 13, 2026 8:30 AM"), ("Rate Hearing", "Mar 18, 2026 1:00 PM"))
    )
    assert told(read(notices)) == [("2026-03-13T08:30", "Quarterly Review"), ("2026-03-18T13:00", "Rate Hearing")]


def test_what_stands_behind_the_hour_of_a_line_is_where_it_is() -> None:
    lines = "".join(
        f"<h2>{day}</h2><ul><li><a href=/{day}>{name}</a> - 1:00 p.m., {place}</li></ul>"
        for day, name, place in (
            ("March 5", "Tax Help", "Computer Lab"),
            ("March 6", "Knitting", "Reading Corner"),
            ("March 7", "Golf", "Nook"),
        )
    )  # fmt: skip
    assert [one.fields.get("place") for one in read(lines)] == ["Computer Lab", "Reading Corner", "Nook"]
