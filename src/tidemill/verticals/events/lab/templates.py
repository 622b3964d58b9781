"""Whole pages: the agenda with everything a municipality's site has around it, and an event's own page."""

from collections.abc import Sequence
from html import escape

import msgspec

from tidemill.verticals.events.lab.content import ShownEntry
from tidemill.verticals.events.lab.makes import Fragment, clock_time, json_event, long_date, script
from tidemill.verticals.events.lab.sites import Make, Site
from tidemill.verticals.events.lab.words import Topic

_STYLE = "".join(
    f".{name}{{margin:0 auto {pad}rem;padding:{pad}rem;max-width:72rem;font:1rem/1.6 'Source Sans 3',sans-serif;"
    f"color:#2b2b2b;background:#fff}}.{name} a{{color:#0b5394;text-decoration:underline;text-underline-offset:.2em}}"
    f"@media(min-width:48em){{.{name}{{display:grid;grid-template-columns:repeat(12,1fr);gap:{pad}rem}}}}"
    for pad, name in enumerate(("kop", "voet", "teaser", "agenda-item", "vevent", "prog", "whats-on"), start=1)
)
_OPENING = {
    Make.JSONLD_ARRAY: '<div class="teasers">',
    Make.JSONLD_GRAPH: '<div class="teasers">',
    Make.MICRODATA: '<div class="events">',
    Make.CARDS: '<section class="agenda-lijst">',
    Make.TABLE: '<table class="whats-on"><thead><tr><th>When</th><th>What</th><th>Where</th></tr></thead><tbody>',
    Make.LIST: '<ul class="programma">',
}
_CLOSING = {
    Make.JSONLD_ARRAY: "</div>",
    Make.JSONLD_GRAPH: "</div>",
    Make.MICRODATA: "</div>",
    Make.CARDS: "</section>",
    Make.TABLE: "</tbody></table>",
    Make.LIST: "</ul>",
}


class Part(msgspec.Struct, frozen=True):
    """Which part of its list a page says that it shows: from event `first` on, of `total`, going on at `next_href`."""

    total: int
    first: int = 1
    next_href: str = ""


def agenda_page(
    site: Site, topic: Topic, fragments: Sequence[Fragment], part: Part, *, redesigned: bool, boilerplate: bool
) -> str:
    """An agenda page with these events on it, or with the notice that there are none.

    `part` is what the page says about itself; its total only on sites that say it.
    """
    head = _head(site, fragments, redesigned=redesigned)
    if fragments:
        listing = _listing(site, fragments, redesigned=redesigned)
        last = part.first + len(fragments) - 1
        count = site.vocabulary.phrases["total"].format(first=part.first, last=last, count=part.total)
        claim = f'<p class="agenda-count" data-total="{part.total}">{count}</p>' if site.claims_total else ""
    else:
        listing = f'<p id="agenda-empty" class="agenda-empty">{site.vocabulary.phrases["empty"]}</p>'
        claim = ""
    main = f"<h1>{escape(topic.heading)}</h1>{claim}\n{listing}{_way_on(site, part)}"
    return whole(site, topic.heading, head, main, boilerplate=boilerplate)


def _way_on(site: Site, part: Part) -> str:
    if not part.next_href:
        return ""
    words = site.vocabulary.phrases["next"]
    return f'<nav class="pagination"><a class="pagination__next" rel="next" href="{part.next_href}">{words}</a></nav>'


def lost_page(site: Site, topic: Topic, *, boilerplate: bool) -> str:
    """The agenda page of which only the shell has come."""
    main = f'<h1>{escape(topic.heading)}</h1><div id="app" data-loading>{site.vocabulary.phrases["wait"]}</div>'
    return whole(site, topic.heading, "", main, boilerplate=boilerplate)


def detail_page(site: Site, shown: ShownEntry, *, boilerplate: bool) -> str:
    """An event's own page."""
    entry, version = shown.entry, shown.version
    structured = site.make in {Make.JSONLD_ARRAY, Make.JSONLD_GRAPH}
    head = script({"@context": "https://schema.org", **json_event(site, shown)}) if structured else ""
    main = (
        f'<article class="detail"><h1>{escape(version.title)}</h1>'
        f"<p>{long_date(site.vocabulary, version.starts)}, {clock_time(site.vocabulary, version.starts)}</p>"
        f"<p>{escape(entry.place)}</p><p>{escape(entry.description)}</p></article>"
    )
    return whole(site, version.title, head, main, boilerplate=boilerplate)


def notice_page(site: Site, text: str) -> str:
    """A page that says one thing."""
    return whole(site, text, "", f"<h1>{escape(text)}</h1>", boilerplate=False)


def whole(site: Site, title: str, head: str, main: str, *, boilerplate: bool) -> str:
    """A page from doctype to the last tag."""
    above, below = _boilerplate(site) if boilerplate else ("", "")
    style = f"<style>{_STYLE}</style>" if boilerplate else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{site.language}"><head><meta charset="utf-8">'
        f"<title>{escape(title)} | {escape(site.name)}</title>"
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{style}{head}</head>\n'
        f"<body>{above}<main>{main}</main>{below}</body></html>\n"
    )


def _head(site: Site, fragments: Sequence[Fragment], *, redesigned: bool) -> str:
    if redesigned or not fragments:
        return ""
    if site.make is Make.JSONLD_ARRAY:
        return f'<script type="application/ld+json">[{",".join(head for head, _ in fragments)}]</script>\n'
    return "".join(head for head, _ in fragments)


def _listing(site: Site, fragments: Sequence[Fragment], *, redesigned: bool) -> str:
    items = "".join(item for _, item in fragments)
    if redesigned:
        return f'<section class="prog">{items}</section>'
    return f"{_OPENING[site.make]}\n{items}{_CLOSING[site.make]}"


def _boilerplate(site: Site) -> tuple[str, str]:
    """What stands above and below: menus, a cookie bar, news, an address."""
    phrases = site.vocabulary.phrases
    links = "".join(
        f'<li class="menu__punt"><a href="/{number}-{word.lower()}">{word}</a></li>'
        for number, word in enumerate(site.vocabulary.houses + site.vocabulary.rooms, start=1)
    )
    news = "".join(
        f'<section class="nieuws"><h2>{sentence.split(",")[0].replace("{price}", "9")}</h2><p>'
        f"{' '.join(site.vocabulary.sentences[index : index + 4]).replace('{price}', '9')}</p></section>"
        for index, sentence in enumerate(site.vocabulary.sentences[:9])
    )
    above = (
        f'<a class="skip" href="#main">#</a><header class="kop"><a href="/">{escape(site.name)}</a>'
        f'<nav aria-label="menu"><ul>{links}</ul></nav></header>'
        f'<div class="cookiebar" hidden><p>Cookies</p><button>{phrases["accept"]}</button></div>'
    )
    below = (
        f'<aside class="zij">{news}</aside><footer class="voet"><h2>{phrases["contact"]}</h2>'
        f"<address>{escape(site.name)}, {escape(site.city)}</address><ul>{links}</ul></footer>"
    )
    return above, below
