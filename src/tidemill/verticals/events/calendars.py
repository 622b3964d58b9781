"""Events for other programs: iCalendar (RFC 5545) and RSS 2.0. Scraped text is escaped by each format's own rules."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

import msgspec

from tidemill.verticals.events.record import Event
from tidemill.verticals.events.views import CardView

LONGEST_LINE = 75  # octets, of which the folded ones begin with a space
_STATUS = {"cancelled": "CANCELLED", "postponed": "TENTATIVE"}
_WEB = ("http", "https")
_ENDLESS = timedelta(hours=2)
"""How long an event is shown for whose end nobody tells."""
_decode = msgspec.json.Decoder(Event).decode
_UNPRINTABLE = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, 65534, 65535))
"""What neither format may hold."""
_LINE_ENDS = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""Also those at which some readers of calendars break lines, though the format knows only the first."""


CALENDAR_END = "END:VCALENDAR\r\n"
RSS_END = "</channel></rss>\n"
_FIRST_MINUTE = datetime(2020, 1, 1, tzinfo=UTC)


def icalendar(cards: Sequence[CardView], name: str, host: str) -> str:
    """A calendar with an entry per event; `host` makes its entries' names unique in the world."""
    return calendar_begin(name) + calendar_entries(cards, host) + CALENDAR_END


def calendar_begin(name: str) -> str:
    """What stands before the entries of a calendar."""
    return _lines(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tidemill//Events//EN", "CALSCALE:GREGORIAN",
                   "METHOD:PUBLISH", f"X-WR-CALNAME:{_text(name)}"])  # fmt: skip


def calendar_entries(cards: Iterable[CardView], host: str) -> str:
    """An entry per event."""
    return _lines(line for card in cards for line in _entry(card, host))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{folded}\r\n" for line in lines for folded in _folded(line))


def _sequence(changed_at: datetime) -> int:
    """How often an entry was revised, as far as a calendar cares: a later change has a higher number."""
    return max(0, (changed_at - _FIRST_MINUTE) // timedelta(minutes=1))


def _entry(card: CardView, host: str) -> list[str]:
    event = _decode(card.record)
    place = ", ".join(dict.fromkeys(filter(None, (event.venue_name, event.structured_location.address,
                                                  event.structured_location.city))))  # fmt: skip
    lines = [
        "BEGIN:VEVENT",
        f"UID:event-{card.id}@{host}",
        f"SEQUENCE:{_sequence(card.updated_at)}",
        f"DTSTAMP:{_stamp(card.updated_at)}",
        *_when(event),
        f"SUMMARY:{_text(event.title)}",
        f"DESCRIPTION:{_text(event.description)}" if event.description else "",
        f"LOCATION:{_text(place)}" if place else "",
        f"CATEGORIES:{_text(event.category.upper())}",
        f"STATUS:{_STATUS.get(event.status, 'CONFIRMED')}",
        f"URL:{link}" if (link := _link(event.detail_url)) else "",
        f"GEO:{event.latitude:.6f};{event.longitude:.6f}"
        if event.latitude is not None and event.longitude is not None
        else "",
        "END:VEVENT",
    ]
    return [line for line in lines if line]


def _when(event: Event) -> list[str]:
    """A day, when no time is told; else moments in UTC, which every calendar shows in its own zone."""
    if event.event_time == "TBD":
        start, end = event.structured_date.start, event.structured_date.end + timedelta(days=1)
        return [f"DTSTART;VALUE=DATE:{start:%Y%m%d}", f"DTEND;VALUE=DATE:{end:%Y%m%d}"]
    ends = event.ends_at if event.ends_at and event.ends_at > event.event_date else event.event_date + _ENDLESS
    return [f"DTSTART:{_stamp(event.event_date)}", f"DTEND:{_stamp(ends)}"]


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _text(value: str) -> str:
    plain = value.translate(_UNPRINTABLE).replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return _LINE_ENDS.sub("\\\\n", plain)


def _folded(line: str) -> Iterable[str]:
    """The line in pieces of at most 75 octets, never through the middle of a character."""
    piece, size = "", 0
    for letter in line:
        width = len(letter.encode("utf-8", "replace"))
        if size + width > LONGEST_LINE:
            yield piece
            piece, size = " ", 1
        piece, size = piece + letter, size + width
    yield piece


def rss(cards: Sequence[CardView], title: str, address: str, now: datetime) -> str:
    """A feed with an item per event; `address` is where we can be called."""
    return rss_begin(title, address, now) + rss_items(cards, address) + RSS_END


def rss_items(cards: Iterable[CardView], address: str) -> str:
    """An item per event."""
    return "".join(_item(card, address) for card in cards)


def rss_begin(title: str, address: str, now: datetime) -> str:
    """What stands before the items of a feed."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#">'
        f"<channel><title>{_xml(title)}</title><link>{_xml(address)}/events</link>"
        f"<description>{_xml(title)}</description><lastBuildDate>{format_datetime(now)}</lastBuildDate>"
    )


def _item(card: CardView, address: str) -> str:
    event = _decode(card.record)
    place = ", ".join(filter(None, (event.venue_name, event.structured_location.city)))
    when = f"{event.structured_date.start:%d-%m-%Y} {'' if event.event_time == 'TBD' else event.event_time}".strip()
    told = f"{when}, {place}. {event.description}" if place else f"{when}. {event.description}"
    link = _link(event.detail_url) or f"{address}/events/{card.id}"
    image = f'<enclosure url={quoteattr(_plain(picture))} length="0" type="image/jpeg"/>' if (
        picture := _link(event.image_url)) else ""  # fmt: skip
    where = ""
    if event.latitude is not None and event.longitude is not None:
        where = f"<geo:lat>{event.latitude:.6f}</geo:lat><geo:long>{event.longitude:.6f}</geo:long>"
    return (
        f"<item><title>{_xml(event.title)}</title><link>{_xml(link)}</link>"
        f'<guid isPermaLink="false">event-{card.id}</guid><category>{_xml(event.category)}</category>'
        f"<pubDate>{format_datetime(card.updated_at)}</pubDate><description>{_xml(told.strip())}</description>"
        f"{image}{where}</item>"
    )


def _xml(value: str) -> str:
    return escape(_plain(value))


def _plain(value: str) -> str:
    """Without what XML cannot hold, half surrogates included."""
    return value.translate(_UNPRINTABLE).encode("utf-8", "replace").decode()


def _link(url: str | None) -> str:
    """An address that may be shown as a link: of the web, one line, and without a name and password."""
    if not url or any(letter.isspace() for letter in url):
        return ""
    try:
        parts = urlsplit(url.translate(_UNPRINTABLE))
    except ValueError:  # a bracket that is not closed
        return ""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if parts.scheme in _WEB else ""
