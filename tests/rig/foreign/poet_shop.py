"""A page object chosen by its item, with parameters, an asynchronous field and a part of its own."""

import attrs
from web_poet import PageParams, WebPage, field, handle_urls
from web_poet.page_inputs import HttpResponse, Stats
from web_poet.pages import Injectable


@attrs.define
class ShopProduct:
    """A product of a shop."""

    name: str
    price: str | None = None
    currency: str | None = None
    sku: str | None = None
    url: str | None = None


class PriceBox(Injectable):
    """The part of the page that holds the price."""

    def __init__(self, response: HttpResponse) -> None:
        """Take the response apart."""
        self.amount = response.css(".amount::text").get()


@handle_urls("shop.example")
@attrs.define
class ShopPage(WebPage[ShopProduct]):
    """A product's page."""

    box: PriceBox
    page_params: PageParams[str, str]
    stats: Stats

    @field
    def name(self) -> str:
        """The heading."""
        return self.css("h1::text").get(default="")

    @field(cached=True)
    async def price(self) -> str | None:
        """The amount in the box."""
        self.stats.inc("prices")
        return self.box.amount

    @field
    def currency(self) -> str | None:
        """As the parameters say."""
        return self.page_params.get("currency")

    @field
    def sku(self) -> str | None:
        """The article number."""
        return self.css("[data-sku]::attr(data-sku)").get()

    @field
    def url(self) -> str:
        """The page's address."""
        return str(self.url_of_page())

    def url_of_page(self) -> str:
        """The address after redirects."""
        return str(self.response.url)
