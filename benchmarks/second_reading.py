"""What Scrapy's spider and the bare script read from the second mix, with the site's own selectors."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urljoin

from scrapy.http import Response
from selectolax.lexbor import LexborHTMLParser, LexborNode

from benchmarks.mixed_pages import PRODUCT
from benchmarks.plain_reading import EventRow
from benchmarks.plain_store import ProductRow
from benchmarks.second_pages import GERMAN_MONTHS, LIST, SELECTORS, TABLE

Pick = Callable[[Any, str, str], str]
"""The text of the first element that a selector finds, or its attribute."""
MARKED = {
    "item": '[itemtype="https://schema.org/Event"]',
    "title": '[itemprop="name"]',
    "starts": "time@datetime",
    "place": '[itemprop="location"] [itemprop="name"]',
    "url": '[itemprop="url"]@href',
    "description": '[itemprop="description"]',
}
_GERMAN = re.compile(r"(\d+)\. (\w+) (\d{4}), (\d\d):(\d\d)")
_MONTH = {name: number for number, name in enumerate(GERMAN_MONTHS, 1)}


def read_second_plainly(body: bytes, url: str, kind: str) -> tuple[list[EventRow], list[ProductRow]]:
    """The rows of a page, found with the fastest parser there is."""
    tree = LexborHTMLParser(body)
    if kind == PRODUCT:
        return [], [_product_row(tree, _with_lexbor, url)]
    return [_event_row(item, _with_lexbor, kind, url) for item in tree.css(_selectors(kind)["item"])], []


def read_second_with_scrapy(response: Response, kind: str) -> tuple[list[EventRow], list[ProductRow]]:
    """The same with Scrapy's own selectors."""
    if kind == PRODUCT:
        return [], [_product_row(response, _with_parsel, response.url)]
    items = response.css(_selectors(kind)["item"])
    return [_event_row(item, _with_parsel, kind, response.url) for item in items], []


def _selectors(kind: str) -> dict[str, str]:
    return SELECTORS.get(kind, MARKED)


def _with_lexbor(node: LexborNode, selector: str, attribute: str) -> str:
    found = node.css_first(selector)
    assert found is not None, selector
    return (found.attributes[attribute] or "") if attribute else found.text()


def _with_parsel(node: Any, selector: str, attribute: str) -> str:
    found = node.css(selector)[0]
    return str(found.attrib[attribute]) if attribute else "".join(found.css("::text").getall())


def _event_row(item: Any, pick: Pick, kind: str, page_url: str) -> EventRow:
    said = {}
    for name, selector in _selectors(kind).items():
        if name != "item":
            where, _, attribute = selector.partition("@")
            said[name] = " ".join(pick(item, where, attribute).split())
    starts = _moment(said["starts"], kind)
    url = urljoin(page_url, said["url"])
    mark = sha256(f"{said['title'].lower()}|{starts.date()}|{page_url}".encode()).hexdigest()[:32]
    return (
        url, said["title"], starts.astimezone(UTC).isoformat(), None, said["description"], said["place"], "", "", None,
        None, url, None, "", "", mark, page_url,
    )  # fmt: skip


def _moment(text: str, kind: str) -> datetime:
    if kind == LIST:
        return datetime.strptime(text, "%A, %B %d, %Y at %I:%M %p").replace(tzinfo=UTC)
    if kind == TABLE:
        found = _GERMAN.search(text)
        assert found is not None, text
        day, month, year, hour, minute = found.groups()
        return datetime(int(year), _MONTH[month], int(day), int(hour), int(minute), tzinfo=UTC)
    return datetime.fromisoformat(text)


def _product_row(page: Any, pick: Pick, url: str) -> ProductRow:
    cents = round(float(pick(page, '[itemprop="price"]', "content")) * 100)
    return (
        url,
        pick(page, '[itemprop="sku"]', ""),
        pick(page, "h1", ""),
        pick(page, '[itemprop="brand"] meta', "content"),
        cents,
        pick(page, '[itemprop="priceCurrency"]', "content"),
        pick(page, '[itemprop="availability"]', "href").rpartition("/")[2],
    )
