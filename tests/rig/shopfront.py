"""A shop without sockets: its pages are what the test says they are, read by the whole pipeline."""

import json
from collections.abc import Awaitable, Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rig.clock import NOON, SettableClock, seeded_dice
from rig.scraped import work_off
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse
from tidemill.settings import Settings
from tidemill.store.database.database import Database

UNHURRIED = {"interval_seconds": 0, "burst": 1, "parallel": 100}
APPROVED = {"reviewed_at": date(2026, 1, 5), "approved_by": "legal"}
REDESIGNED = "<html><body><div id=app>Loading our new shop</div><p>Nothing to see here yet.</p></body></html>"


def product_page(**said: Any) -> str:
    """A product as schema.org writes it; what is None is left out."""
    about: dict[str, Any] = {
        "name": "Harrow 9mm Luger 115 Grain FMJ - 50 Rounds", "price": "14.95", "currency": "USD", "sku": "H9-50",
        "stock": "InStock", "brand": "Harrow", "gtin": None, **said,
    }  # fmt: skip
    offer = {"@type": "Offer", "priceCurrency": about["currency"], "price": about["price"]}
    if about["stock"]:
        offer["availability"] = f"https://schema.org/{about['stock']}"
    offer = {name: value for name, value in offer.items() if value is not None}
    product: dict[str, Any] = {
        "@context": "https://schema.org", "@type": "Product", "name": about["name"], "sku": about["sku"],
        "brand": {"@type": "Brand", "name": about["brand"]}, "gtin12": about["gtin"], "offers": offer,
    }  # fmt: skip
    product = {name: value for name, value in product.items() if value is not None}
    return (
        f"<html><head><title>{about['name']}</title></head><body><h1>{about['name']}</h1>"
        f'<script type="application/ld+json">{json.dumps(product)}</script>'
        f"<p>{'A fine product. ' * 20}</p></body></html>"
    )


class Shopfront:
    """Answers every request from `pages`, by host and path."""

    def __init__(self) -> None:
        self.pages: dict[tuple[str, str], str] = {}
        self.asked: list[str] = []

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        await before_send()
        parts = urlsplit(request.url)
        self.asked.append(request.url)
        page = self.pages.get((parts.netloc, parts.path))
        headers = {"content-type": "text/html; charset=utf-8"}
        return WireResponse(status_code=404 if page is None else 200, headers=headers, body=(page or "").encode())

    async def close(self) -> None:
        """There is nothing to let go of."""


class Market:
    """A system with shops in it, at a clock that the test sets."""

    def __init__(self, database: Database, clock: SettableClock, folder: Path, **settings: Any) -> None:
        self.front = Shopfront()
        self.clock = clock
        self.heard: list[Any] = []
        options = Settings(allow_networks=["127.0.0.0/8"], pages_folder=folder / "pages", **settings)
        self.system: System = build(
            options, announce=Listeners(self.heard.append), clock=clock, dice=seeded_dice(), database=database,
            transport=self.front,
        )  # fmt: skip

    async def shop(self, name: str, pages: Iterable[str], **fields: Any) -> int:
        """Bring a shop in with one target per page; answers its key."""
        host = f"{name}.example"
        paths = []
        for number, page in enumerate(pages):
            paths.append(f"/p/{number}")
            self.front.pages[host, paths[-1]] = page
        aims = [{"url": f"https://{host}{path}", "schedule": "0 */4 * * *"} for path in paths]
        entry = {"name": name, "vertical": "prices", "base_url": f"https://{host}", "adapter": "prices.generic",
                 "pace": UNHURRIED, "tos": APPROVED, "time_zone": "UTC", "targets": aims}  # fmt: skip
        done = await self.system.actions.importer.source_entries([entry | fields], "test")
        assert not done.problems, done.problems
        return (await self.system.actions.sources.find(name)).id

    def show(self, name: str, number: int, page: str) -> None:
        """Change what a page says."""
        self.front.pages[f"{name}.example", f"/p/{number}"] = page

    async def run(self, *names: str, after: timedelta = timedelta(hours=4)) -> None:
        """Scrape shops by hand, some time later, to the end."""
        self.clock.advance(after)
        await self.system.worker.sign_in()
        for name in names:
            await self.system.actions.runs.start_source(name, "test")
        await work_off(self.system, self.clock)

    def told(self, kind: type) -> list[Any]:
        """What was announced of a kind."""
        return [each for each in self.heard if isinstance(each, kind)]


__all__ = ["NOON", "REDESIGNED", "Market", "Shopfront", "product_page"]
