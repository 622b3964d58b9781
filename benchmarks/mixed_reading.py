"""What Scrapy's spider and the bare script read from the mix: what the pages say, with the site's own selectors."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

import msgspec
from scrapy.http import Response
from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.mixed_pages import CARDS, MONTHS, SELECTORS
from benchmarks.plain_reading import EventRow, rows_of_items
from benchmarks.plain_store import ProductRow

Card = tuple[str, str, str, str, str]
"""Title, date, place, link and description as the page has them."""
JSON_LD = '//script[@type="application/ld+json"]/text()'
FIELDS = tuple(SELECTORS[name].partition("@")[0] for name in ("title", "starts", "place", "description"))
_decode = msgspec.json.Decoder().decode
_DATE = re.compile(r"(\d+) (\w+) (\d{4}), (\d\d):(\d\d)")
_MONTH = {name: number for number, name in enumerate(MONTHS, 1)}
_ZONE = ZoneInfo("Europe/Amsterdam")


def read_plainly(body: bytes, url: str, kind: str) -> tuple[list[EventRow], list[ProductRow]]:
    """The rows of a page, found with the fastest parser there is."""
    tree = LexborHTMLParser(body)
    if kind == CARDS:
        cards = [_card(item) for item in tree.css(SELECTORS["item"])]
        return rows_of_cards(cards, url), []
    return rows_of_blocks([node.text() for node in tree.css('script[type="application/ld+json"]')], url)


def read_mix_with_scrapy(response: Response, kind: str) -> tuple[list[EventRow], list[ProductRow]]:
    """The same with Scrapy's own selectors."""
    if kind != CARDS:
        return rows_of_blocks(response.xpath(JSON_LD).getall(), response.url)
    cards = [
        (
            item.css("h3 a::text").get(""),
            item.css(".wanneer::text").get(""),
            item.css(".waar::text").get(""),
            item.css("h3 a::attr(href)").get(""),
            item.css(".intro::text").get(""),
        )
        for item in response.css(SELECTORS["item"])
    ]
    return rows_of_cards(cards, response.url), []


def _card(item: LexborNode) -> Card:
    title, starts, place, about = (item.css_first(selector) for selector in FIELDS)
    assert title is not None
    assert starts is not None
    assert place is not None
    assert about is not None
    return title.text(), starts.text(), place.text(), title.attributes["href"] or "", about.text()


def rows_of_blocks(blocks: Iterable[str], url: str) -> tuple[list[EventRow], list[ProductRow]]:
    """The events of `@graph` blocks and the products of the others."""
    events: list[EventRow] = []
    products: list[ProductRow] = []
    for block in blocks:
        said = _decode(block)
        if "@graph" in said:
            events += rows_of_items(said["@graph"], url)
        elif said.get("@type") == "Product":
            offer = said["offers"]
            stock = offer["availability"].rpartition("/")[2]
            cents = round(float(offer["price"]) * 100)
            products.append(
                (url, said["sku"], said["name"], said["brand"]["name"], cents, offer["priceCurrency"], stock)
            )
    return events, products


def rows_of_cards(cards: Iterable[Card], page_url: str) -> list[EventRow]:
    """A row for each card, its Dutch date made sense of."""
    rows: list[EventRow] = []
    for title, when, place, link, about in cards:
        found = _DATE.search(when)
        assert found is not None, when
        day, month, year, hour, minute = found.groups()
        starts = datetime(int(year), _MONTH[month], int(day), int(hour), int(minute), tzinfo=_ZONE)
        url = urljoin(page_url, link)
        mark = sha256(f"{title.lower()}|{starts.date()}|{page_url}".encode()).hexdigest()[:32]
        rows.append(
            (url, title, starts.astimezone(UTC).isoformat(), None, about, place, "", "", None, None, url, None, "", "",
             mark, page_url)
        )  # fmt: skip
    return rows
