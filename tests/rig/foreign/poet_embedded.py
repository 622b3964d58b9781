"""Page objects of a shop whose data stands in a script; one needs the item of another, one a browser."""

import json
from typing import Any

import attrs
from web_poet import BrowserResponse, HttpClient, ItemPage, WebPage, field, handle_urls


@attrs.define
class ScriptData:
    """What a page's own script knows."""

    data: dict[str, Any]


@attrs.define
class ListedProduct:
    """A product as the script has it."""

    name: str
    price: float | None


@handle_urls("data.example")
class ScriptPage(WebPage[ScriptData]):
    """Reads the script."""

    @field
    def data(self) -> dict[str, Any]:
        """Its object."""
        return json.loads(self.css("script#state::text").get(default="{}"))


@handle_urls("data.example")
@attrs.define
class ListedProductPage(ItemPage[ListedProduct]):
    """Reads the product from what the script says."""

    script: ScriptData

    @field
    def name(self) -> str:
        """Its name."""
        return str(self.script.data["product"]["title"])

    @field
    def price(self) -> float | None:
        """Its price."""
        return self.script.data["product"].get("price")


@attrs.define
class RenderedPage(ItemPage[ListedProduct]):
    """Needs a page as a browser shows it."""

    response: BrowserResponse

    @field
    def name(self) -> str:
        """The heading."""
        return self.response.css("h1::text").get(default="")

    @field
    def price(self) -> float | None:
        """None here."""
        return None


@attrs.define
class AskingPage(ItemPage[ListedProduct]):
    """Asks for requests of its own."""

    client: HttpClient
