"""Reading product pages beside extruct with price-parser, the usual open-source stack."""

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import extruct
from price_parser import Price

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, answer
from tidemill.verticals.prices.reading import read_product

PAGES = Path(__file__).parents[2] / "tests" / "golden" / "prices"
ROUNDS = 3
_LINK = '<li class="level-2"><a href="/c/{n}" class="link"><span class="label">Category {n}</span></a></li>'
_SCRIPT = "<script>window.settings = {{ tracking: {n}, consent: 'asked', carousel: [1, 2, 3] }};</script>"
FURNITURE = (
    f"<div class='menu'><ul>{''.join(_LINK.format(n=n) for n in range(250))}</ul></div>"
    f"{''.join(_SCRIPT.format(n=n) for n in range(150))}"
)
"""What stands around a product on the pages of shops: some 40 KB of menus and scripts."""


def usual(markup: str, url: str) -> Decimal | None:
    """The first price in structured data, as people write it in an afternoon."""
    found = extruct.extract(markup, base_url=url, syntaxes=["json-ld", "microdata", "opengraph"], uniform=True)
    for item in [*found["json-ld"], *found["microdata"]]:
        if (price := _priced(item)) is not None:
            return price
    for item in found["opengraph"]:
        if text := item.get("product:price:amount") or item.get("og:price:amount"):
            return Price.fromstring(str(text)).amount
    return None


def _priced(item: Any) -> Decimal | None:
    if not isinstance(item, dict):
        return None
    offers = item.get("offers")
    for offer in offers if isinstance(offers, list) else [offers]:
        if isinstance(offer, dict) and (text := offer.get("price") or offer.get("lowPrice")):
            return Price.fromstring(str(text)).amount
    return None


def _furnished(markup: str) -> str:
    return markup.replace("<footer>", f"{FURNITURE}<footer>", 1)


def main() -> None:
    expected = json.loads((PAGES / "expected.json").read_text())
    pages = [(_furnished((PAGES / "pages" / f"{name}.html").read_text()), said["url"], Decimal(said["price"]))
             for name, said in expected.items()]  # fmt: skip
    watch = Stopwatch()
    watch.start()
    began = time.process_time()
    for _ in range(ROUNDS):
        ours = sum(read_product(markup, url).price == price for markup, url, price in pages)
    between = time.process_time()
    for _ in range(ROUNDS):
        theirs = sum(usual(markup, url) == price for markup, url, price in pages)
    ended = time.process_time()
    watch.stop()
    mine, other = ((between - began) / ROUNDS / len(pages), (ended - between) / ROUNDS / len(pages))
    answer(
        Figures(
            watch.seconds,
            watch.cpu_seconds,
            peak_megabytes(),
            {"pages": len(pages), "right": ours, "extruct_right": theirs},
            watch.waited_seconds,
            {"ms_per_page": mine * 1_000, "extruct_ms_per_page": other * 1_000, "times_as_fast": other / mine},
        )
    )


if __name__ == "__main__":
    main()
