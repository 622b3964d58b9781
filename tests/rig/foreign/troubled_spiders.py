"""Spiders that do what a spider may do in a crawl of its own, and an adapter may not."""

import itertools
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Response


class ClosesItself(scrapy.Spider):
    """Has seen enough in the middle of a page."""

    name = "closes"

    def parse(self, response: Response) -> Iterator[Any]:
        """One item, and an end."""
        yield {"title": response.css("p::text").get()}
        reason = "enough"
        raise CloseSpider(reason)


class EndsTheProcess(scrapy.Spider):
    """Ends with the process."""

    name = "ends"

    def parse(self, response: Response) -> Iterator[Any]:
        """Nothing after this."""
        yield {"title": response.css("p::text").get()}
        sys.exit(0)


class StartsAReactor(scrapy.Spider):
    """Runs a reactor of its own."""

    name = "reactor"

    def parse(self, response: Response) -> Iterator[Any]:
        """Start it."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

        reactor.run()  # type: ignore[misc]
        yield {"title": response.css("p::text").get()}


class NeverEnds(scrapy.Spider):
    """Has always one more."""

    name = "endless"

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Items without end."""
        for number in itertools.count():
            yield {"title": f"{response.url} {number}"}
