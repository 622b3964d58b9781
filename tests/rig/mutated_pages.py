"""Saved pages, mutated, and read by every reader within a second of processor time; `make fuzz` reads many."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import process_time

from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.listings.reading import read_listings
from tidemill.verticals.prices.reading import read_product

FIXTURES = Path(__file__).parents[3] / "shared" / "fixtures"
CONTEXT = ReadingContext(now=datetime(2026, 2, 1, 12, tzinfo=UTC), time_zone="Europe/Amsterdam", language="nl")
LIMIT = 1.0
"""Seconds of processor time that any page may take."""
SPLINTERS = (
    "<div>",
    "</div>",
    "<table>",
    "<",
    "&#0;",
    "\x00",
    "9" * 40,
    "$",
    "€ 1.",
    "31 februari",
    "<script>",
    "]]>",
    '"',
)


def mutated(markup: str, dice: Random) -> str:
    """A page with a few of its parts cut out, doubled, swapped or broken."""
    for _ in range(dice.randint(1, 6)):
        here, there = sorted(dice.randrange(len(markup) + 1) for _ in range(2))
        there = min(there, here + 20_000)
        part = markup[here:there]
        change = dice.choice(("", part * 2, part[::-1], dice.choice(SPLINTERS) * dice.randint(1, 200), part.upper()))
        markup = markup[:here] + change + markup[there:]
    return markup


def read_mutated(rounds: int, seed: int) -> float:
    """Read so many mutated pages; the longest time that one took. Fails on a page over the limit."""
    pages = sorted(FIXTURES.rglob("*.html"))
    dice = Random(seed)  # noqa: S311 - the same pages on every machine
    longest = 0.0
    for _ in range(rounds):
        path = dice.choice(pages)
        markup = mutated(path.read_text("utf-8", "replace"), dice)
        for reader in READERS:
            began = process_time()
            reader(markup)
            took = process_time() - began
            longest = max(longest, took)
            assert took < LIMIT, f"{path.name} of seed {seed} took {took:.2f} s"
    return longest


def _product(markup: str) -> object:
    return read_product(markup, "https://shop.example/p/1")


def _events(markup: str) -> object:
    return read_events(Document(markup, "https://town.example/"), CONTEXT)


def _homes(markup: str) -> object:
    return read_listings(Document(markup, "https://homes.example/"))


READERS = (_product, _events, _homes)

if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    sys.stdout.write(f"{asked} pages, the longest {read_mutated(asked, seed=7):.2f} s\n")
