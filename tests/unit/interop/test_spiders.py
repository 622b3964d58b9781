"""Spiders of Scrapy run as adapters, unchanged: items are records, requests are pages to follow."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from rig.foreign import scrapy_shop, troubled_spiders
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.interop.adapter_table import AdapterTable
from tidemill.interop.foreign_code import FOREIGN_CODE
from tidemill.interop.spider_requests import handover_of

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TABLE = AdapterTable({}, FOREIGN_CODE)
PRODUCT = "<h1> Brass </h1><b class=price>$12.50</b><i data-sku=B-7></i>"


def read(
    cls: type[Any],
    url: str,
    body: str,
    kind: str = "text/html; charset=utf-8",
    settings: Mapping[str, Any] | None = None,
) -> Reading:
    name = f"scrapy:{cls.__module__}:{cls.__name__}"
    source = Source(id=1, name="s", vertical="v", base_url=url, adapter_id=name, adapter_settings=settings or {})
    plain = url.partition("#")[0]
    page = Page(
        id=1, url=url, final_url=plain, status_code=200, body=body.encode(), charset="utf-8", content_type=kind,
        digest=0, fetched_at=NOON,
    )  # fmt: skip
    return TABLE[name].read(page, Context(source, plain, NOON))


def found_by(*arguments: Any, **named: Any) -> Found:
    reading = read(*arguments, **named)
    assert isinstance(reading, Found), reading
    return reading


LIST = """<ul><li><a href=/product/7>Brass</a> <i>lower</i></li><li><a href=/product/8>Steel</a></li></ul>
<a class=next href=/all?page=2>next</a>"""


def test_a_list_leads_to_its_entries_and_to_its_next_page():
    found = found_by(scrapy_shop.ListAndDetail, "https://shop.example/all", LIST)
    assert [each.partition("#")[0] for each in found.follow] == [
        "https://shop.example/product/7",
        "https://shop.example/product/8",
        "https://shop.example/all?page=2",
    ]
    handed = handover_of(found.follow[0])
    assert (handed.callback, handed.arguments) == ("parse_product", {"shelf": "lower"})
    assert "#" not in found.follow[2]


def test_requests_that_cannot_be_followed_are_counted_with_their_reasons():
    found = found_by(scrapy_shop.ListAndDetail, "https://shop.example/all", LIST)
    assert sorted(found.notes) == [
        "1 requests were left: a POST request is not sent",
        "1 requests were left: its callback is no method of the spider",
    ]
    assert found.truncated


def test_an_entry_s_page_is_read_by_the_callback_that_the_list_named():
    (_, steel, _) = found_by(scrapy_shop.ListAndDetail, "https://shop.example/all", LIST).follow
    (brass, *_) = found_by(scrapy_shop.ListAndDetail, "https://shop.example/all", LIST).follow
    assert steel != brass
    (record,) = found_by(scrapy_shop.ListAndDetail, brass, PRODUCT).records
    assert record.fields == {
        "title": " Brass ", "price": "$12.50", "currency": "USD", "sku": "B-7", "shelf": "lower",
        "url": "https://shop.example/product/7",
    }  # fmt: skip
    assert record.origin == "ListAndDetail.parse_product/0"


def test_rules_follow_links_and_loaders_make_items():
    body = "<a href=/shelf/1>shelf</a> <a href=/product/7>brass</a> <a href=https://elsewhere.example/product/9>x</a>"
    found = found_by(scrapy_shop.RulesAndLoaders, "https://shop.example/", body)
    product = next(each for each in found.follow if "/product/7" in each)
    (record,) = found_by(scrapy_shop.RulesAndLoaders, product, PRODUCT).records
    assert record.fields == {"title": "Brass", "price": "$12.50", "currency": "USD"}
    shelf = next(each for each in found.follow if "/shelf/" in each)
    assert found_by(scrapy_shop.RulesAndLoaders, shelf, body).follow


def test_an_answer_in_json_is_read_by_the_callback_of_the_first_request():
    body = '{"products": [{"name": "Brass", "price": "9.50"}], "more": true}'
    found = found_by(scrapy_shop.JsonInPage, "https://shop.example/api/brass", body, "application/json")
    assert [record.fields["title"] for record in found.records] == ["Brass"]
    assert handover_of(found.follow[0]).meta == {"page": 2}


def test_arguments_of_a_spider_stand_in_the_source_s_settings():
    settings = {"spider_arguments": {"shelf": "steel"}}
    body = '{"products": [{"name": "Box", "price": "1"}]}'
    found = found_by(
        scrapy_shop.JsonInPage, "https://shop.example/api/steel", body, "application/json", settings=settings
    )
    assert found.records[0].fields["shelf"] == "steel"


def test_what_needs_a_crawler_is_refused_with_words():
    refused = read(scrapy_shop.NeedsCrawler, "https://shop.example/", "<p>x</p>")
    assert isinstance(refused, Fail)
    assert "it asks for its crawler" in refused.detail


def test_a_page_from_which_nothing_comes_is_drift():
    silent = read(scrapy_shop.RulesAndLoaders, "https://shop.example/", f"<p>{'Quite another page. ' * 30}</p>")
    assert isinstance(silent, Fail)
    assert silent.failure is Failure.LAYOUT_CHANGED


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scrapy:rig.foreign.scrapy_shop:ShopItem", "no spider of Scrapy"),
        ("scrapy:rig.foreign.scrapy_shop:NeedsArgument", "spider_arguments"),
        ("scrapy:rig.foreign.nowhere:Spider", "cannot be imported"),
    ],
)
def test_code_that_is_no_usable_spider_is_refused_with_words(name, words):
    assert name not in TABLE
    assert words in TABLE.problem_with(name)


def test_a_broken_note_reads_the_page_the_usual_way():
    assert handover_of("https://shop.example/#tidemill:%%%").callback == "_parse"
    assert handover_of("https://shop.example/#top").callback == "_parse"


def test_a_spider_that_closes_itself_keeps_what_it_had_and_is_not_complete():
    found = read(troubled_spiders.ClosesItself, "https://shop.example/", "<p>x</p>")
    assert isinstance(found, Found)
    assert [each.fields["title"] for each in found.records] == ["x"]
    assert found.truncated
    assert found.notes == ("the spider closed itself: enough",)


@pytest.mark.parametrize(
    ("name", "words"), [("EndsTheProcess", "ends the process"), ("StartsAReactor", "starts a reactor")]
)
def test_what_would_take_the_reader_with_it_is_refused_with_words(name: str, words: str):
    answer = read(getattr(troubled_spiders, name), "https://shop.example/", "<p>x</p>")
    assert isinstance(answer, Fail)
    assert answer.failure is Failure.ADAPTER_CRASHED
    assert words in answer.detail


def test_a_callback_without_an_end_is_cut_off():
    found = read(troubled_spiders.NeverEnds, "https://shop.example/", "<p>x</p>")
    assert isinstance(found, Found)
    assert found.truncated
