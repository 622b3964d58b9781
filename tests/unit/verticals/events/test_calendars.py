from datetime import timedelta
from xml.etree import ElementTree as ET

import msgspec
import pytest

from rig.clock import NOON
from rig.mill import event
from tidemill.verticals.events.calendars import icalendar, rss
from tidemill.verticals.events.record import EventStatus
from tidemill.verticals.events.views import CardView

pytestmark = pytest.mark.shows("A5")

HOSTILE = 'Fish & "Chips"; <script>alert(1)</script>,\\n\nBEGIN:VEVENT\r\nX-EVIL:1\x00\x1b ]]> é漢'


def card(key=7, **changes):
    told = msgspec.structs.replace(event("Jazz", 1), **changes)
    return CardView(
        id=key, source_id=1, source_name="club", title=told.title, event_date=told.event_date, ends_at=told.ends_at,
        event_time=told.event_time, venue_name=told.venue_name, category=told.category, latitude=told.latitude,
        longitude=told.longitude, status=told.status, sources=["club"], members=[key], provenance={},
        record=msgspec.Raw(msgspec.json.encode(told)), updated_at=NOON,
    )  # fmt: skip


def unfolded(calendar):
    return calendar.replace("\r\n ", "").split("\r\n")


def test_a_calendar_has_an_entry_per_event_in_utc():
    lines = unfolded(icalendar([card(), card(8)], "What is on", "mill.test"))
    assert lines[:2] == ["BEGIN:VCALENDAR", "VERSION:2.0"]
    assert lines.count("BEGIN:VEVENT") == lines.count("END:VEVENT") == 2
    assert "UID:event-7@mill.test" in lines
    assert "DTSTART:20260401T120000Z" in lines
    assert "DTEND:20260401T140000Z" in lines
    assert "GEO:52.000000;5.900000" in lines


def test_an_event_without_a_time_is_a_whole_day_and_its_end_is_the_day_after():
    lines = unfolded(icalendar([card(event_time="TBD")], "x", "mill.test"))
    assert {"DTSTART;VALUE=DATE:20260401", "DTEND;VALUE=DATE:20260402"} <= set(lines)


def test_a_cancelled_event_says_so():
    assert "STATUS:CANCELLED" in unfolded(icalendar([card(status=EventStatus.CANCELLED)], "x", "mill.test"))


def test_no_line_is_longer_than_75_octets_and_none_is_cut_through_a_character():
    calendar = icalendar([card(description="é漢字 " * 100)], "x", "mill.test")
    assert all(len(line.encode()) <= 75 for line in calendar.split("\r\n"))
    assert "é漢字 é漢字" in calendar.replace("\r\n ", "")


def test_scraped_text_cannot_break_out_of_its_line():
    lines = unfolded(icalendar([card(title=HOSTILE, venue_name=HOSTILE, description=HOSTILE)], HOSTILE, "mill.test"))
    assert lines.count("BEGIN:VEVENT") == 1
    assert not any(line.startswith("X-EVIL") for line in lines)
    assert not any(sign in line for line in lines for sign in "\x00\x1b\n\r")


def test_rss_is_xml_whatever_the_pages_say():
    hostile = [
        card(title=HOSTILE, description=HOSTILE, image_url='https://a.test/"><x>.jpg', detail_url="javascript:alert(1)")
    ]
    root = ET.fromstring(rss(hostile, HOSTILE, "http://mill.test", NOON))  # noqa: S314 - it is our own
    (item,) = root.iter("item")
    assert item.findtext("title", "").startswith('Fish & "Chips"; <script>')
    assert item.findtext("link") == "http://mill.test/events/7"
    assert item.findtext("guid") == "event-7"


@pytest.mark.parametrize("moment", [NOON, NOON + timedelta(days=200)])
def test_dates_of_rss_are_those_of_mail(moment):
    root = ET.fromstring(rss([], "x", "http://mill.test", moment))  # noqa: S314 - it is our own
    assert root.findtext("channel/lastBuildDate", "").endswith("+0000")


@pytest.mark.parametrize("ends", ["\r\n", "\n", "\r", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1e"])
def test_no_line_end_that_any_reader_knows_begins_a_line_of_the_calendar(ends):
    hostile = f"Jazz{ends}END:VEVENT{ends}BEGIN:VEVENT{ends}SUMMARY:owned"
    calendar = icalendar([card(title=hostile, venue_name=hostile, description=hostile)], "Agenda", "localhost")
    lines = calendar.splitlines()  # breaks at every end that Unicode knows
    assert [line for line in lines if line.startswith(("BEGIN:VEVENT", "SUMMARY"))] == [
        "BEGIN:VEVENT",
        next(line for line in lines if line.startswith("SUMMARY:Jazz")),
    ]


def test_a_very_long_title_is_folded_and_whole():
    title = "Długi " * 20_000
    calendar = icalendar([card(title=title)], "Agenda", "localhost")
    assert all(len(line.encode()) <= 75 for line in calendar.split("\r\n"))
    assert f"SUMMARY:{title}" in unfolded(calendar)
