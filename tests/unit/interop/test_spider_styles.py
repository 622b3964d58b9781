"""Spiders in the styles that people use run unchanged, page by page, as a run would lead them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from rig.foreign import scrapy_styles as styles
from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.interop.adapter_table import AdapterTable
from tidemill.interop.foreign_code import FOREIGN_CODE

pytestmark = pytest.mark.shows("X1")
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TABLE = AdapterTable({}, FOREIGN_CODE)
LIST = """<div class=card><span class=brand> Penguin </span><a href=/book/1?ref=list>one</a></div>
<div class=card><a href=/book/2?ref=list>two</a></div><ul><li class=next><a href=/list/all?page=2>next</a></li></ul>"""
BOOK = "<h1> the sea </h1><b class=price>$12.50</b><i data-sku=b-7></i><div class=tags><a>red</a><a>blue</a></div>"


def read(
    cls: type[Any], url: str, body: str, kind: str = "text/html", headers: Mapping[str, str] | None = None
) -> Found:
    """What the spider finds on a page."""
    name = f"scrapy:{cls.__module__}:{cls.__name__}"
    source = Source(id=1, name="s", vertical="v", base_url=styles.SHOP, adapter_id=name, headers=headers or {})
    plain = url.partition("#")[0]
    page = Page(
        id=1, url=url, final_url=plain, status_code=200, body=body.encode(), charset="utf-8", content_type=kind,
        digest=0, fetched_at=NOON,
    )  # fmt: skip
    found = TABLE[name].read(page, Context(source, plain, NOON))
    assert isinstance(found, Found), found
    return found


def fields(found: Found) -> list[dict[str, Any]]:
    """What its records say."""
    return [dict(record.fields) for record in found.records]


def addresses(found: Found) -> list[str]:
    """The pages that it leads to, without what is handed on to them."""
    return [each.partition("#")[0].removeprefix(styles.SHOP) for each in found.follow]


def test_half_filled_items_travel_in_meta_and_headers_that_say_who_asks_hold_nothing_up() -> None:
    listed = read(styles.HalfFilled, f"{styles.SHOP}/list/all", LIST)
    assert addresses(listed) == ["/book/1?ref=list", "/book/2?ref=list", "/list/all?page=2"]
    assert (listed.notes, listed.truncated) == ((), False)
    book = read(styles.HalfFilled, listed.follow[0], BOOK)
    assert fields(book) == [{"brand": "Penguin", "title": " the sea ", "price": "12.50"}]
    assert addresses(read(styles.HalfFilled, listed.follow[2], LIST)) == addresses(listed)


def test_rules_with_tidied_links_lead_to_loaders_with_processors() -> None:
    listed = read(styles.TidyRules, f"{styles.SHOP}/list/all", LIST)
    assert addresses(listed) == ["/list/all?page=2", "/book/1", "/book/2"]
    book = read(styles.TidyRules, listed.follow[1], BOOK)
    assert fields(book) == [{"title": "The Sea", "price": "12.50", "sku": "B-7", "brand": "list", "tags": "red, blue"}]


def test_an_api_is_walked_page_by_page_without_the_headers_of_its_requests() -> None:
    answer = {"results": [{"name": "Brass", "price": 9.5, "path": "/g/1"}], "next": "/api?page=2"}
    found = read(styles.PagedApi, f"{styles.SHOP}/api?page=1", json.dumps(answer), "application/json")
    assert fields(found) == [{"title": "Brass", "price": 9.5, "url": f"{styles.SHOP}/g/1"}]
    last = read(styles.PagedApi, found.follow[0], json.dumps({**answer, "next": None}), "application/json")
    assert (len(last.records), last.follow, last.truncated) == (1, (), False)


def test_a_header_of_its_own_is_not_passed_over_unless_the_source_sends_it() -> None:
    answer = json.dumps({"results": [{"name": "Brass", "price": 9.5, "path": "/"}], "next": "/api?page=2"})
    url = read(styles.PagedApi, f"{styles.SHOP}/api?page=1", answer, "application/json").follow[0]
    held = read(styles.Keyed, url, answer, "application/json")
    assert held.follow == ()
    assert held.truncated
    assert held.notes == (
        "1 requests were left: it sends headers of its own (authorization); write them under the source's headers",
    )
    sent = read(styles.Keyed, url, answer, "application/json", headers={"Authorization": "Token x"})
    assert addresses(sent) == ["/api?page=2"]


def test_a_spider_that_counts_pages_on_itself_says_so_and_reads_each_page_alike() -> None:
    body = "<a>one</a><a>two</a>"
    first = read(styles.CountingPages, f"{styles.SHOP}/list?page=1", body)
    again = read(styles.CountingPages, f"{styles.SHOP}/list?page=1", body)
    assert first == again
    assert [each["title"] for each in fields(again)] == ["one", "two"]
    assert again.truncated
    assert again.notes == ("page_number counts pages on the spider; hand the number on with cb_kwargs",)


def test_sitemaps_and_feeds_are_read() -> None:
    told = f"<urlset><url><loc>{styles.SHOP}/book/1</loc></url><url><loc>{styles.SHOP}/about</loc></url></urlset>"
    listed = read(styles.BookMap, f"{styles.SHOP}/sitemap.xml", told, "application/xml")
    assert addresses(listed) == ["/book/1"]
    assert fields(read(styles.BookMap, listed.follow[0], BOOK)) == [{"title": " the sea "}]
    feed = "<rss><channel><item><title>Feed 1</title></item><item><title>Feed 2</title></item></channel></rss>"
    entries = read(styles.BookFeed, f"{styles.SHOP}/feed.xml", feed, "application/xml")
    assert [each["title"] for each in fields(entries)] == ["Feed 1", "Feed 2"]
