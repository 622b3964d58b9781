"""Spiders in the usual styles: list and details, rules with item loaders, JSON in the page; and what is refused."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from itemloaders.processors import MapCompose, TakeFirst
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, Rule


def ignore(response: Response) -> None:
    """Is no method of a spider."""


class ShopItem(scrapy.Item):
    """A product."""

    title = scrapy.Field()
    price = scrapy.Field()
    currency = scrapy.Field()
    sku = scrapy.Field()
    url = scrapy.Field()
    shelf = scrapy.Field()


class ListAndDetail(scrapy.Spider):
    """A list whose entries have pages of their own, to which it hands on what only the list knows."""

    name = "list-and-detail"
    start_urls = ["https://shop.example/all"]  # noqa: RUF012 - as spiders have it
    custom_settings = {"DOWNLOAD_DELAY": 3}  # noqa: RUF012 - as spiders have it

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow every entry, then the next page."""
        for entry in response.css("li"):
            yield response.follow(
                entry.css("a::attr(href)").get(""), self.parse_product, cb_kwargs={"shelf": entry.css("i::text").get()}
            )
        yield scrapy.Request("https://elsewhere.example/", callback=ignore)
        yield scrapy.FormRequest("https://shop.example/search", formdata={"q": "x"})
        if following := response.css("a.next::attr(href)").get():
            yield response.follow(following)

    def parse_product(self, response: Response, shelf: str) -> Iterator[dict[str, Any]]:
        """The product."""
        yield {
            "title": response.css("h1::text").get(),
            "price": response.css(".price::text").get(),
            "currency": "USD",
            "sku": response.css("[data-sku]::attr(data-sku)").get(),
            "url": response.url,
            "shelf": shelf,
        }


class RulesAndLoaders(CrawlSpider):
    """Rules for links, and an item loader for products."""

    name = "rules-and-loaders"
    start_urls = ["https://shop.example/"]  # noqa: RUF012 - as spiders have it
    rules = (
        Rule(LinkExtractor(allow=r"/shelf/")),
        Rule(LinkExtractor(allow=r"/product/"), callback="parse_product", follow=False),
    )

    def parse_product(self, response: TextResponse) -> ShopItem:
        """The product."""
        loader = ItemLoader(item=ShopItem(), response=response)
        loader.default_output_processor = TakeFirst()
        loader.add_css("title", "h1::text", MapCompose(str.strip))
        loader.add_css("price", ".price::text")
        loader.add_value("currency", "USD")
        return loader.load_item()


class JsonInPage(scrapy.Spider):
    """An API that answers JSON, walked through asynchronously from a request of its own."""

    name = "json"

    def __init__(self, shelf: str = "brass", **kwargs: Any) -> None:
        """`shelf` is what -a gives it."""
        super().__init__(**kwargs)
        self.shelf = shelf

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Begin with the API."""
        yield scrapy.Request(f"https://shop.example/api/{self.shelf}", callback=self.parse_answer, meta={"page": 1})

    async def parse_answer(self, response: Response) -> AsyncIterator[Any]:
        """Every product of the answer, then the next one."""
        answer = json.loads(response.text)
        for product in answer["products"]:
            yield ShopItem(title=product["name"], price=product["price"], shelf=self.shelf)
        if answer.get("more"):
            number = response.meta["page"] + 1
            yield scrapy.Request(
                f"https://shop.example/api/{self.shelf}?page={number}",
                callback=self.parse_answer,
                meta={"page": number},
            )


class NeedsCrawler(scrapy.Spider):
    """Asks for its crawler."""

    name = "needs-crawler"
    start_urls = ["https://shop.example/"]  # noqa: RUF012 - as spiders have it

    def parse(self, response: Response) -> Any:
        """Counts."""
        self.crawler.stats.inc_value("pages")
        return {"title": response.url}


class NeedsArgument(scrapy.Spider):
    """Cannot be made without an argument."""

    name = "needs-argument"

    def __init__(self, shelf: str, **kwargs: Any) -> None:
        """`shelf` has no default."""
        super().__init__(**kwargs)
        self.shelf = shelf
