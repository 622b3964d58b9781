"""Spiders as people write them: half-filled items in meta, loaders with processors, headers, counters, sitemaps."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from itemloaders.processors import Compose, Join, MapCompose, TakeFirst
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider, XMLFeedSpider

SHOP = "https://shop.example"


class BookItem(scrapy.Item):
    """A book, with processors at its fields."""

    title = scrapy.Field()
    price = scrapy.Field(input_processor=MapCompose(lambda text: text.replace("$", "")), output_processor=TakeFirst())
    sku = scrapy.Field()
    brand = scrapy.Field()
    tags = scrapy.Field(output_processor=Join(", "))


class BookLoader(ItemLoader):
    """Fills books."""

    default_item_class = BookItem
    default_input_processor = MapCompose(str.strip)
    default_output_processor = TakeFirst()
    title_in = MapCompose(str.strip, str.title)
    sku_out = Compose(TakeFirst(), str.upper)


class HalfFilled(scrapy.Spider):
    """Begins with requests that carry headers, and hands half-filled items on in meta."""

    name = "half-filled"

    def __init__(self, category: str = "all", *args: Any, **kwargs: Any) -> None:
        """`category` is what -a gives it."""
        super().__init__(*args, **kwargs)
        self.category = category

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> "HalfFilled":
        """Listen to a signal, as many do."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.closed_words, signal=scrapy.signals.spider_closed)
        return spider

    def closed_words(self) -> None:
        """Log the end."""
        self.logger.info("closed")

    def start_requests(self) -> Iterator[scrapy.Request]:
        """Begin with the category."""
        url = f"{SHOP}/list/{self.category}"
        yield scrapy.Request(url, self.parse_list, headers={"User-Agent": "Mozilla/5.0"}, dont_filter=True)

    def parse_list(self, response: Any) -> Iterator[scrapy.Request]:
        """Follow every card with what the card says, then the next pages."""
        self.logger.info("list %s at depth %s", response.url, response.meta.get("depth"))
        for card in response.css("div.card"):
            item = BookItem(brand=card.css(".brand::text").get(default="").strip())
            url = response.urljoin(card.xpath(".//a/@href").get(""))
            yield scrapy.Request(url, self.parse_book, errback=self.on_error, meta={"item": item}, priority=1)
        yield from response.follow_all(css="li.next a", callback=self.parse_list)

    def parse_book(self, response: Response) -> Iterator[BookItem]:
        """Fill the item up."""
        item = response.meta["item"]
        item["title"] = response.css("h1::text").get()
        item["price"] = response.css(".price::text").re_first(r"[\d.]+")
        yield item

    def on_error(self, failure: Any) -> None:
        """Log a failure."""
        self.logger.error(repr(failure))


class TidyRules(CrawlSpider):
    """Rules with tidied links and arguments, and a loader of its own."""

    name = "tidy-rules"
    start_urls = [f"{SHOP}/list/all"]  # noqa: RUF012 - as spiders have it
    rules = (
        Rule(LinkExtractor(restrict_css="li.next")),
        Rule(LinkExtractor(allow=r"/book/\d+"), callback="parse_item", process_links="tidy", cb_kwargs={"via": "list"}),
    )

    def tidy(self, links: list[Any]) -> list[Any]:
        """Take what follows the question mark off."""
        for link in links:
            link.url = link.url.split("?")[0]
        return links

    def parse_item(self, response: Any, via: str) -> BookItem:
        """The book."""
        loader = BookLoader(response=response)
        loader.add_css("title", "h1::text")
        loader.add_xpath("price", "//*[@class='price']/text()")
        loader.add_css("sku", "[data-sku]::attr(data-sku)")
        loader.add_value("brand", via)
        loader.nested_css(".tags").add_css("tags", "a::text")
        return loader.load_item()


class PagedApi(scrapy.Spider):
    """An API that tells its next page, asked with headers."""

    name = "paged-api"
    asked_with = {"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"}  # noqa: RUF012 - as spiders have it

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Begin with the first page."""
        yield scrapy.Request(f"{SHOP}/api?page=1", self.parse_api, headers=self.asked_with, cb_kwargs={"page": 1})

    def parse_api(self, response: Any, page: int) -> Iterator[Any]:
        """Everything in the answer, then the next one."""
        answer = response.json()
        for one in answer["results"]:
            yield {"title": one["name"], "price": one["price"], "url": response.urljoin(one["path"])}
        if answer["next"]:
            more = {"page": page + 1}
            yield response.follow(answer["next"], self.parse_api, headers=self.asked_with, cb_kwargs=more)


class Keyed(PagedApi):
    """An API that wants a key, which a request must not be sent without."""

    asked_with = {"Authorization": "Token x"}  # noqa: RUF012 - as spiders have it


class CountingPages(scrapy.Spider):
    """Counts pages on its class, and remembers there what it has seen."""

    name = "counting"
    page_number = 2
    seen: set[str] = set()  # noqa: RUF012 - as spiders have it
    start_urls = [f"{SHOP}/list?page=1"]  # noqa: RUF012 - as spiders have it

    def parse(self, response: Response) -> Iterator[Any]:
        """What was not seen yet, then the page after the last one."""
        for title in response.css("a::text").getall():
            if title not in self.seen:
                self.seen.add(title)
                yield {"title": title}
        following = f"{SHOP}/list?page={CountingPages.page_number}"
        CountingPages.page_number += 1
        yield response.follow(following, self.parse)


class BookMap(SitemapSpider):
    """A sitemap, and the pages that it lists."""

    name = "book-map"
    sitemap_urls = [f"{SHOP}/sitemap.xml"]  # noqa: RUF012 - as spiders have it
    sitemap_rules = [("/book/", "parse_book")]  # noqa: RUF012 - as spiders have it

    def parse_book(self, response: Response) -> Iterator[dict[str, Any]]:
        """The book."""
        yield {"title": response.css("h1::text").get()}


class BookFeed(XMLFeedSpider):
    """A feed of XML."""

    name = "book-feed"
    start_urls = [f"{SHOP}/feed.xml"]  # noqa: RUF012 - as spiders have it
    itertag = "item"

    def parse_node(self, response: Response, selector: Any) -> dict[str, Any]:
        """One entry."""
        return {"title": selector.xpath("title/text()").get(), "url": response.urljoin("/")}
