"""A second mix, of other markup than the first: the judge of whether what made the first one fast holds elsewhere.

Pages of some 70 KB with menus, styles and scripts, minified, attributes in no fixed order and not always in quotes:
sixteen events as microdata, sixteen in a German table, sixteen in an English list, or a product as microdata. As a
child process, `python -m benchmarks.second_pages 50 2000` makes all pages first, then prints its origins and serves.
"""

import json
import re
import sys
from datetime import UTC, date, datetime
from functools import partial
from random import Random

import uvloop

from benchmarks.mixed_pages import PRODUCT, mixed_moment, serve
from benchmarks.task import EVENTS_PER_PAGE
from tidemill.lab.dice import dice

SEED = 29
MICRODATA, TABLE, LIST = "microdata", "termine", "whatson"
KINDS = (MICRODATA, TABLE, LIST, PRODUCT)
SELECTORS = {
    TABLE: {
        "item": "table.termine tr.termin",
        "title": "td.was a",
        "starts": "td.wann",
        "place": "td.wo",
        "url": "td.was a@href",
        "description": "td.info",
    },
    LIST: {
        "item": "li.listing",
        "title": "h2.listing__title",
        "starts": "p.listing__when",
        "place": "p.listing__where",
        "url": "a.listing__link@href",
        "description": "div.listing__blurb",
    },
}
GERMAN_MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip
_GERMAN_DAYS = ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So")
_NOUNS = re.findall(
    r"\w+",
    "evening night river garden winter summer gallery orchestra quartet market harbour lantern story theatre village "
    "chapel mountain bakery bicycle library museum puppet rhythm choir forest island kitchen ballad cinema workshop "
    "festival walk lecture castle tower poem letter window shadow paper silver copper velvet northern open hidden",
)
_FIRST = ("Ber", "Hol", "Mar", "Win", "Kes", "Lan", "Tor", "Fel", "Ols", "Gre")
_LAST = ("ger", "mann", "ton", "ley", "stein", "berg", "sen", "field", "by", "well")
_SURNAMES = [first + last for first in _FIRST for last in _LAST]


def second_page(kind: str, first_day: date, number: int) -> bytes:
    """The page with this number, the same every time."""
    draw = dice(SEED, "second", kind, number)
    body = _product(draw, number) if kind == PRODUCT else _agenda(draw, kind, first_day, number)
    language = "de" if kind == TABLE else "en"
    return (
        f'<!DOCTYPE html><html lang={language} class="no-js"><head><meta charset=utf-8><title>{_title(draw)}</title>'
        f"<style>{_STYLE}</style><script>{_SCRIPT}</script></head><body class='page page--{kind}' data-page={number}>"
        f'<header role="banner"><nav aria-label="Main"><ul class=menu>{_MENU}</ul></nav></header>'
        f"<main id=content>{body}</main><footer><p>{_prose(draw, 60)}</p></footer>"
        f"<script>window.__STATE__={_state(draw)};</script></body></html>"
    ).encode()


def _agenda(draw: Random, kind: str, first_day: date, number: int) -> str:
    make = {MICRODATA: _marked_event, TABLE: _table_row, LIST: _list_item}[kind]
    numbers = range(EVENTS_PER_PAGE * number, EVENTS_PER_PAGE * (number + 1))
    events = "".join(make(draw, mixed_moment(first_day, each), each) for each in numbers)
    if kind == TABLE:
        head = "<thead><tr><th>Wann<th>Was<th>Wo<th>Info</tr></thead>"
        return f"<h1>Termine</h1><table class=termine>{head}<tbody>{events}</table>"
    return f"<h1>What's on</h1><ul class='listings'>{events}</ul>" if kind == LIST else f"<h1>Events</h1>{events}"


def _marked_event(draw: Random, starts: datetime, number: int) -> str:
    return (
        f'<article class="teaser" itemtype="https://schema.org/Event" itemscope id=e{number}>'
        f'<a itemprop="url" href="/events/{number}"><h2 itemprop=name class="teaser__title">{_title(draw)}</h2></a>'
        f'<time datetime="{starts:%Y-%m-%dT%H:%M}:00+00:00" itemprop="startDate">{starts:%d/%m/%Y}</time>'
        '<div itemscope itemprop="location" itemtype="https://schema.org/Place">'
        f"<span itemprop=name>{draw.choice(_SURNAMES)} Hall</span>"
        '<div itemprop=address itemscope itemtype="https://schema.org/PostalAddress">'
        f'<span itemprop="streetAddress">{draw.choice(_SURNAMES)} Road {draw.randint(1, 200)}</span>, '
        '<span itemprop="addressLocality">Utrecht</span></div></div>'
        f'<p class=teaser__text itemprop="description">{_prose(draw, 45)}</p></article>'
    )


def _table_row(draw: Random, starts: datetime, number: int) -> str:
    day = f"{_GERMAN_DAYS[starts.weekday()]}, {starts.day}. {GERMAN_MONTHS[starts.month - 1]} {starts.year}"
    return (
        f'<tr id="t{number}" class="termin"><td class=wann>{day}, {starts:%H:%M} Uhr</td>'
        f"<td class='was'><a title='Mehr' href='/termine/{number}'>{_title(draw)}</a></td>"
        f'<td class="wo">{draw.choice(_SURNAMES)} Saal</td><td class=info>{_prose(draw, 30)}</td></tr>'
    )


def _list_item(draw: Random, starts: datetime, number: int) -> str:
    hour = f"{starts.hour % 12 or 12}:{starts:%M} {'AM' if starts.hour < 12 else 'PM'}"
    return (
        f'<li data-id="{number}" class="listing listing--{number % 5}">'
        f'<a href="/whats-on/{number}" class="listing__link"><img loading=lazy alt="" src="/i/{number}.jpg" width=320>'
        f'<h2 class="listing__title">{_title(draw)}</h2></a>'
        f'<p class="listing__when">{starts:%A, %B} {starts.day}, {starts.year} at {hour}</p>'
        f'<p class="listing__where">{draw.choice(_SURNAMES)} House</p>'
        f'<div class="listing__blurb"><p>{_prose(draw, 40)}</p></div></li>'
    )


def _product(draw: Random, number: int) -> str:
    price = f"{draw.randint(500, 99_999) / 100:.2f}"
    about = "".join(f"<p>{_prose(draw, 70)}</p>" for _ in range(6))
    rows = "".join(f"<tr><th>{_title(draw)}</th><td>{draw.choice(_SURNAMES)}</td></tr>" for _ in range(8))
    return (
        '<div itemtype="https://schema.org/Product" class="pdp" itemscope>'
        f'<h1 itemprop="name">{_title(draw)} {number}</h1><img itemprop=image src="/p/{number}.jpg" alt="">'
        f'<span itemprop="sku" class=sku>P{number}</span>'
        '<div itemprop="brand" itemscope itemtype="https://schema.org/Brand">'
        f'<meta content="{draw.choice(_SURNAMES)}" itemprop="name"></div>'
        '<div class="buy" itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        '<meta itemprop="priceCurrency" content="EUR">'
        f'<span content="{price}" itemprop="price" class="amount">€{price}</span>'
        '<link href="https://schema.org/InStock" itemprop="availability">'
        '<button class="buy__button" type=submit>Add to cart</button>'
        f"</div><div itemprop=description>{about}</div><table class=specs>{rows}</table></div>"
    )


def _title(draw: Random) -> str:
    return f"{draw.choice(_SURNAMES)} and the {draw.choice(_NOUNS)} {draw.choice(_NOUNS)} of {draw.choice(_SURNAMES)}"


def _prose(draw: Random, count: int) -> str:
    words = [draw.choice(_NOUNS) if draw.random() < 0.7 else draw.choice(_SURNAMES) for _ in range(count)]
    return f"{' '.join(words).capitalize()}."


def _state(draw: Random) -> str:
    """What sites leave in their pages for their scripts."""
    rows = [
        {"id": draw.randint(1, 10**9), "slug": _title(draw).replace(" ", "-"), "flags": [1, 0, 2]} for _ in range(90)
    ]
    return json.dumps({"locale": "en", "features": rows}, separators=(",", ":"))


def _menu() -> str:
    inner = "".join(
        f'<li><a href=/s/{n} class="menu__link"><i class=icon></i><span>Item {n}</span></a></li>' for n in range(12)
    )
    return "".join(
        f'<li class="menu__item has-children"><a data-toggle="m{n}" href="/m/{n}">Section {n}</a>'
        f"<ul hidden>{inner}</ul></li>"
        for n in range(22)
    )


_MENU = _menu()
_STYLE = "".join(
    f".c{n}{{margin:{n}px auto;padding:0 {n}px;color:#{n:03x}}}.c{n}>a:hover{{opacity:.{n}}}" for n in range(160)
)
_SCRIPT = "".join(
    f"function f{n}(a,b){{if(a<b&&b>{n})return'<b>'+a+'</b>';for(var i=0;i<{n};i++)a.push(b[i]);return a}}"
    for n in range(180)
)


if __name__ == "__main__":
    today = datetime.now(UTC).date()  # noqa: TID251 - the contenders know no other clock
    uvloop.run(serve(KINDS, partial(second_page, first_day=today), int(sys.argv[1]), int(sys.argv[2])))
