"""A mix of pages of three kinds whose words, dates and prices do not repeat: no cache is warm by construction.

`@graph` pages hold sixteen events as JSON-LD, card pages sixteen with Dutch dates that only selectors find, product
pages one product. Only the menu around them is the same on every page, as it is on a site. As a child process,
`python -m benchmarks.mixed_pages 50 2000` makes all pages first, then prints its origins and serves.
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from random import Random

import uvloop

from benchmarks.task import EVENTS_PER_PAGE, Task
from tidemill.lab.corpus_server import CorpusServer
from tidemill.lab.dice import dice
from tidemill.lab.lifetime import print_json, until_stopped

SEED = 18
GRAPH, CARDS, PRODUCT = KINDS = ("graph", "cards", "product")
SELECTORS = {
    "item": "article.voorstelling",
    "title": "h3 a",
    "starts": ".wanneer",
    "place": ".waar",
    "url": "h3 a@href",
    "description": ".intro",
}
MONTHS = (
    "januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november",
    "december",
)  # fmt: skip
WEEKDAYS = ("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag")
_HEADS = ("b", "d", "gr", "h", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w", "z", "br", "vl", "sch")
_TAILS = ("aan", "eel", "ier", "oor", "uit", "ak", "en", "im", "ol", "und", "erg", "ijs", "oet", "ast", "ing", "um")
_DAYS, _HOURS, _STRIDE = 170, range(9, 23), 100_003
_MOMENTS = _DAYS * len(_HOURS) * 60
"""So many events have a moment of their own; the stride shares no factor with it, so that neighbours lie apart."""
_MENU = "".join(f'<li class="m-{n % 3}"><a href="/c/{n}"><span>Rubriek {n}</span></a></li>' for n in range(260))


Kinds = tuple[str, ...]


def kind_of(host: int, kinds: Kinds = KINDS) -> str:
    """What the pages of a host are, by its number."""
    return kinds[host % len(kinds)]


def mixed_urls(task: Task, of: Kinds = KINDS) -> Iterator[tuple[str, str]]:
    """Every page once, with its kind, the hosts in turn."""
    hosts = len(task.origins)
    for number in range(task.pages):
        kind = kind_of(number % hosts, of)
        yield f"{task.origins[number % hosts]}/{kind}/{number}", kind


def wanted(task: Task, of: Kinds = KINDS) -> dict[str, int]:
    """What a database must hold afterwards."""
    kinds = [kind for _, kind in mixed_urls(task, of)]
    products = kinds.count(PRODUCT)
    return {"pages": task.pages, "events": EVENTS_PER_PAGE * (task.pages - products), "products": products}


def mixed_page(kind: str, first_day: date, number: int) -> bytes:
    """The page with this number, the same every time."""
    draw = dice(SEED, "mixed", kind, number)
    head, body = _product(draw, number) if kind == PRODUCT else _agenda(draw, kind, first_day, number)
    return (
        f'<!doctype html><html lang="nl"><head><meta charset="utf-8"><title>{_words(draw, 3)}</title>{head}</head>'
        f"<body><nav><ul>{_MENU}</ul></nav><main>{body}</main><footer><p>{_words(draw, 60)}</p></footer></body></html>"
    ).encode()


def _agenda(draw: Random, kind: str, first_day: date, number: int) -> tuple[str, str]:
    numbers = range(EVENTS_PER_PAGE * number, EVENTS_PER_PAGE * (number + 1))
    if kind == CARDS:
        return "", "".join(_card(draw, mixed_moment(first_day, each), each) for each in numbers)
    events = [_event(draw, mixed_moment(first_day, each), each) for each in numbers]
    graph = {"@context": "https://schema.org", "@graph": [{"@type": "WebPage", "name": _words(draw, 2)}, *events]}
    teasers = "".join(f'<div class="teaser"><b>{each["name"]}</b><p>{_words(draw, 12)}</p></div>' for each in events)
    return f'<script type="application/ld+json">{json.dumps(graph)}</script>', teasers


def _event(draw: Random, starts: datetime, number: int) -> dict[str, object]:
    return {
        "@type": "MusicEvent",
        "name": _words(draw, 3),
        "startDate": f"{starts:%Y-%m-%dT%H:%M}:00+00:00",
        "endDate": f"{starts + timedelta(minutes=draw.randint(60, 200)):%Y-%m-%dT%H:%M}:00+00:00",
        "description": _words(draw, 40),
        "url": f"/e/{number}",
        "image": f"/i/{number}.jpg",
        "eventStatus": "https://schema.org/EventScheduled",
        "location": {
            "@type": "Place",
            "name": _words(draw, 2),
            "address": {"@type": "PostalAddress", "addressLocality": "Utrecht", "addressCountry": "NL"},
            "geo": {"latitude": round(draw.uniform(51, 53), 5), "longitude": round(draw.uniform(4.5, 6.5), 5)},
        },
    }


def _card(draw: Random, starts: datetime, number: int) -> str:
    day = f"{WEEKDAYS[starts.weekday()]} {starts.day} {MONTHS[starts.month - 1]} {starts.year}"
    return (
        f'<article class="voorstelling"><h3><a href="/e/{number}">{_words(draw, 3)}</a></h3>'
        f'<p class="wanneer">{day}, {starts:%H:%M} uur</p><p class="waar">{_words(draw, 2)}</p>'
        f'<p class="intro">{_words(draw, 60)}</p><a class="meer" href="/e/{number}">Meer</a></article>'
    )


def _product(draw: Random, number: int) -> tuple[str, str]:
    title = f"{_words(draw, 3)} {number}"
    price = f"{draw.randint(500, 99_999) / 100:.2f}"
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": title,
        "sku": f"S-{number}",
        "brand": {"@type": "Brand", "name": _words(draw, 1)},
        "image": f"/i/{number}.jpg",
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }
    about = "".join(f"<p>{_words(draw, 80)}</p>" for _ in range(10))
    head = f'<script type="application/ld+json">{json.dumps(product)}</script>'
    return head, f'<h1>{title}</h1><p class="price">€ {price.replace(".", ",")}</p>{about}'


def mixed_moment(first_day: date, number: int) -> datetime:
    """When the event with this number begins; no two begin together."""
    day, minute = divmod(number * _STRIDE % _MOMENTS, len(_HOURS) * 60)
    at = time(_HOURS.start + minute // 60, minute % 60, tzinfo=UTC)
    return datetime.combine(first_day + timedelta(days=2 + day), at)


def _words(draw: Random, count: int) -> str:
    """So many words that no dictionary has, the first with a capital."""
    return " ".join(
        "".join(draw.choice(_HEADS) + draw.choice(_TAILS) for _ in range(draw.randint(2, 3))) for _ in range(count)
    ).capitalize()


async def serve(kinds: Kinds, make: Callable[..., bytes], hosts: int, pages: int) -> None:
    """Make every page, then serve until standard input closes."""
    ready = [make(kind_of(number % hosts, kinds), number=number) for number in range(pages)]
    async with CorpusServer({f"/{kind}/": ready.__getitem__ for kind in kinds}, hosts=hosts) as server:
        print_json({"origins": server.origins})
        await until_stopped()


if __name__ == "__main__":
    today = datetime.now(UTC).date()  # noqa: TID251 - the contenders know no other clock
    uvloop.run(serve(KINDS, partial(mixed_page, first_day=today), int(sys.argv[1]), int(sys.argv[2])))
