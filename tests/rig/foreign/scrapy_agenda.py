"""A spider of an agenda whose entries have pages of their own."""

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response


class AgendaSpider(scrapy.Spider):
    """Walks over a list, and reads every entry on its own page."""

    name = "agenda"

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Follow entries and the next page."""
        for entry in response.css("li"):
            yield response.follow(
                entry.css("a::attr(href)").get(""),
                self.parse_entry,
                cb_kwargs={"starts": entry.css("time::text").get()},
            )
        for following in response.css("a.next::attr(href)").getall():
            yield response.follow(following)

    def parse_entry(self, response: Response, starts: str) -> dict[str, Any]:
        """One entry."""
        return {"title": response.css("h1::text").get(), "starts": starts, "url": response.url}
