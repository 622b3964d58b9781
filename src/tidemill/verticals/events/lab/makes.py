"""The six makes of site: how each writes one event, and the selectors that find it again.

A fragment is what one event adds to the head (structured data) and to the list. Fragments are joined by
`templates`, and remembered, because an event's fragment only changes when the event does.
"""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from html import escape

from tidemill.verticals.events.lab.content import ShownEntry
from tidemill.verticals.events.lab.sites import Make, Site
from tidemill.verticals.events.lab.words import Vocabulary

Fragment = tuple[str, str]
_FAR = 3  # days from which on a day has no name of its own
Selectors = Mapping[str, str]

SELECTORS: Mapping[Make, Selectors] = {
    Make.CARDS: {
        "item": "article.agenda-item",
        "title": "h3 a",
        "starts": ".agenda-item__datum",
        "place": ".agenda-item__locatie",
        "url": "h3 a@href",
        "description": ".agenda-item__intro",
        "status": ".label",
        "empty": "#agenda-empty",
        "image": "img@src",
    },
    Make.TABLE: {
        "item": "table.whats-on tbody tr",
        "title": "td.what a",
        "starts": "td.when",
        "place": "td.where",
        "url": "td.what a@href",
        "description": "td.what p",
        "status": ".label",
        "empty": "#agenda-empty",
    },
    Make.LIST: {
        "item": "ul.programma > li",
        "title": "strong.titel",
        "starts": "span.wanneer",
        "place": "span.waar",
        "url": "a.naar@href",
        "description": "span.over",
        "status": ".label",
        "empty": "#agenda-empty",
    },
}

REDESIGNED: Selectors = {
    "item": "section.prog div.prog__row",
    "title": "a.prog__name",
    "starts": "time@datetime",
    "place": "em.prog__stage",
    "url": "a.prog__name@href",
    "description": "div.prog__text",
    "status": ".label",
    "empty": "#agenda-empty",
}
"""The selectors that fit any site once it has been redesigned."""


def fragment(site: Site, shown: ShownEntry, today: date, *, redesigned: bool) -> Fragment:
    """What one event adds to the head and to the list of its page."""
    writer = _redesigned if redesigned else _WRITERS[site.make]
    return writer(site, shown, today)


def depends_on_today(site: Site) -> bool:
    """Whether the page reads differently tomorrow though nothing changed."""
    return site.make is Make.LIST


def nearness(site: Site, shown: ShownEntry, today: date) -> int:
    """What of `today` an event's fragment depends on: the days left while they have a name of their own."""
    if not depends_on_today(site):
        return _FAR
    return min((shown.version.starts.date() - today).days, _FAR)


def long_date(vocabulary: Vocabulary, moment: datetime, *, year: bool = True) -> str:
    """The day as people write it: 'zaterdag 21 november 2026'."""
    day = f"{vocabulary.weekdays[moment.weekday()]} {moment.day} {vocabulary.months[moment.month - 1]}"
    return f"{day} {moment.year}" if year else day


def clock_time(vocabulary: Vocabulary, moment: datetime) -> str:
    """The time as people write it: '20.30 uur', '8:30 pm'."""
    if vocabulary.language == "nl":
        return f"{moment:%H.%M} uur"
    return f"{moment.hour % 12 or 12}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"  # noqa: PLR2004 -- noon


def json_event(site: Site, shown: ShownEntry) -> dict[str, object]:
    """The event as schema.org has it."""
    entry, version = shown.entry, shown.version
    status = "EventCancelled" if version.cancelled else "EventScheduled"
    return {
        "@type": "Event",
        "@id": f"{site.detail_url(entry)}#event",
        "name": version.title,
        "startDate": _iso(version.starts),
        "endDate": _iso(version.starts + entry.lasts),
        "eventStatus": f"https://schema.org/{status}",
        "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
        "description": entry.description,
        "image": [f"{site.origin}/media/{entry.id}-1200.jpg"],
        "url": site.detail_url(entry),
        "location": {
            "@type": "Place",
            "name": entry.place,
            "address": {
                "@type": "PostalAddress",
                "addressLocality": site.city,
                "addressCountry": "NL" if site.language == "nl" else "GB",
            },
            "geo": {"@type": "GeoCoordinates", "latitude": site.latitude, "longitude": site.longitude},
        },
        "offers": {"@type": "Offer", "price": f"{entry.price}.00", "priceCurrency": _currency(site)},
        "organizer": {"@type": "Organization", "name": site.name, "url": site.origin},
    }


def script(data: object) -> str:
    """Structured data as it stands in a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/ld+json">{text}</script>\n'


def _jsonld_array(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    event = {"@context": "https://schema.org", **json_event(site, shown)}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"), _teaser(site, shown)


def _jsonld_graph(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    page = {"@type": "WebPage", "@id": site.detail_url(shown.entry), "name": shown.version.title}
    graph = {"@context": "https://schema.org", "@graph": [page, json_event(site, shown)]}
    return script(graph), _teaser(site, shown)


def _teaser(site: Site, shown: ShownEntry) -> str:
    """The card beside the structured data: its date is a picture of a calendar leaf, not a sentence."""
    entry, version, vocabulary = shown.entry, shown.version, site.vocabulary
    return (
        f'<div class="teaser teaser--event"><div class="teaser__leaf"><b>{version.starts.day}</b>'
        f"<i>{vocabulary.months[version.starts.month - 1][:3]}</i></div>"
        f'<a class="teaser__link" href="{site.detail_path(entry)}">'
        f'<img src="/media/{entry.id}-400.jpg" alt="" width="400" height="225" loading="lazy">'
        f'<span class="teaser__title">{escape(version.title)}</span></a>'
        f'<p class="teaser__place">{escape(entry.place)}</p>{_label(site, shown)}</div>\n'
    )


def _microdata(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    entry, version = shown.entry, shown.version
    status = "EventCancelled" if version.cancelled else "EventScheduled"
    return "", (
        f'<div class="vevent" itemscope itemtype="https://schema.org/Event">'
        f'<link itemprop="eventStatus" href="https://schema.org/{status}">'
        f'<h3><a itemprop="url" href="{site.detail_path(entry)}">'
        f'<span itemprop="name">{escape(version.title)}</span></a></h3>'
        f'<meta itemprop="startDate" content="{_iso(version.starts)}">'
        f'<meta itemprop="endDate" content="{_iso(version.starts + entry.lasts)}">'
        f"<p>{long_date(site.vocabulary, version.starts)}, {clock_time(site.vocabulary, version.starts)}</p>"
        f'<div itemprop="location" itemscope itemtype="https://schema.org/Place">'
        f'<span itemprop="name">{escape(entry.place)}</span>'
        f'<span itemprop="address" itemscope itemtype="https://schema.org/PostalAddress">'
        f'<span itemprop="addressLocality">{escape(site.city)}</span></span></div>'
        f'<img itemprop="image" src="/media/{entry.id}-800.jpg" alt="">'
        f'<p itemprop="description">{escape(entry.description)}</p>{_label(site, shown)}</div>\n'
    )


def _cards(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    entry, version = shown.entry, shown.version
    when = f"{long_date(site.vocabulary, version.starts)}, {clock_time(site.vocabulary, version.starts)}"
    return "", (
        f'<article class="agenda-item" data-nummer="{entry.id}">'
        f'<img src="/media/{entry.id}-640.jpg" alt="" width="640" height="360">'
        f'<div class="agenda-item__tekst">{_label(site, shown)}'
        f'<h3><a href="{site.detail_path(entry)}">{escape(version.title)}</a></h3>'
        f'<p class="agenda-item__datum">{when}</p><p class="agenda-item__locatie">{escape(entry.place)}</p>'
        f'<p class="agenda-item__intro">{escape(entry.description)}</p>'
        f'<a class="knop" href="{site.detail_path(entry)}">{site.vocabulary.phrases["more"]}</a></div></article>\n'
    )


def _table(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    entry, version = shown.entry, shown.version
    when = f"{long_date(site.vocabulary, version.starts)}, {clock_time(site.vocabulary, version.starts)}"
    return "", (
        f'<tr><td class="when">{when}</td>'
        f'<td class="what"><a href="{site.detail_path(entry)}">{escape(version.title)}</a>{_label(site, shown)}'
        f'<p>{escape(entry.description)}</p></td><td class="where">{escape(entry.place)}</td></tr>\n'
    )


def _list(site: Site, shown: ShownEntry, today: date) -> Fragment:
    entry, version = shown.entry, shown.version
    when = f"{_near_date(site.vocabulary, version.starts, today)}, {clock_time(site.vocabulary, version.starts)}"
    return "", (
        f'<li><a class="naar" href="{site.detail_path(entry)}">'
        f'<strong class="titel">{escape(version.title)}</strong></a>'
        f' <span class="wanneer">{when}</span> <span class="waar">{escape(entry.place)}</span>'
        f'{_label(site, shown)}<span class="over">{escape(entry.description)}</span></li>\n'
    )


def _redesigned(site: Site, shown: ShownEntry, _today: date) -> Fragment:
    entry, version = shown.entry, shown.version
    return "", (
        f'<div class="prog__row"><time datetime="{version.starts:%Y-%m-%dT%H:%M}">'
        f"{version.starts:%d/%m}<br>{version.starts:%H:%M}</time>"
        f'<div class="prog__main"><a class="prog__name" href="{site.detail_path(entry)}">{escape(version.title)}</a>'
        f'<em class="prog__stage">{escape(entry.place)}</em>'
        f'<div class="prog__text">{escape(entry.description)}</div>{_label(site, shown)}</div></div>\n'
    )


def _near_date(vocabulary: Vocabulary, starts: datetime, today: date) -> str:
    """The day as a reader of today's page knows it: today, tomorrow, or a day without its year."""
    words = {0: vocabulary.phrases["today"], 1: vocabulary.phrases["tomorrow"], 2: vocabulary.phrases["after"]}
    return words.get((starts.date() - today) // timedelta(days=1)) or long_date(vocabulary, starts, year=False)


def _label(site: Site, shown: ShownEntry) -> str:
    return f'<span class="label">{site.vocabulary.phrases["cancelled"]}</span>' if shown.version.cancelled else ""


def _iso(moment: datetime) -> str:
    """ISO 8601 with its offset; in the night of the clock change without, because sites do not know it either."""
    return moment.replace(tzinfo=None).isoformat() if moment.hour == 2 else moment.isoformat()  # noqa: PLR2004 -- 02:30


def _currency(site: Site) -> str:
    return "EUR" if site.language == "nl" else "GBP"


_WRITERS: Mapping[Make, Callable[[Site, ShownEntry, date], Fragment]] = {
    Make.JSONLD_ARRAY: _jsonld_array,
    Make.JSONLD_GRAPH: _jsonld_graph,
    Make.MICRODATA: _microdata,
    Make.CARDS: _cards,
    Make.TABLE: _table,
    Make.LIST: _list,
}
