"""Read random pages until the time is up, keeping those that reach lines no other did; every failure is printed.

    make fuzz                 ten minutes
    make fuzz SECONDS=60 SEED=7

A case fails when a reader throws, or takes longer than its budget of processor time.
"""

import argparse
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from rig.hostile_shapes import MARKUP, TEXT
from tidemill.fetching.decoding import decode
from tidemill.fetching.robots import Rules
from tidemill.operations.mistakes import Mistake
from tidemill.operations.plans import KnownAdapters, ProblemList
from tidemill.operations.source_file import read_sources
from tidemill.operations.target_file import read_targets
from tidemill.reading import (
    Document,
    ReadingContext,
    availability_in,
    find_moments,
    jsonld,
    microdata,
    parse_moment,
    parse_money,
)
from tidemill.reading.text import plain
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.listings.reading import read_listings
from tidemill.verticals.prices.reading.reader import read_product

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
BUDGET_SECONDS = 2.0
LONGEST = 20_000
MOST_KEPT = 2_000


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


KNOWN = KnownAdapters({})


def _page(text: str) -> Document:
    return Document(text, "https://a.test/x")


TARGETS: dict[str, Callable[[str], object]] = {
    "document": lambda text: Document(text.encode("utf-8", "surrogatepass"), "https://a.test/").markup,
    "json-ld": lambda text: jsonld.blocks(_page(f'<script type="application/ld+json">{text}</script>')),
    "microdata": lambda text: (microdata.items(_page(text)), microdata.rdfa_items(_page(text))),
    "events": lambda text: read_events(_page(text), ReadingContext(now=NOON)),
    "product": lambda text: read_product(_page(text), "https://a.test/x"),
    "listings": lambda text: read_listings(_page(text)),
    "moments": lambda text: (parse_moment(text, NOON), find_moments(text, NOON)),
    "money": parse_money,
    "stock": availability_in,
    "text": plain,
    "decoding": lambda text: [
        decode(_bytes(text), coding, 1_000_000) for coding in ("gzip", "br", "zstd", "deflate, gzip")
    ],
    "targets": lambda text: list(read_targets(b"url,source\n" + _bytes(text), {}, KNOWN, ProblemList())),
    "sources": lambda text: read_sources(_bytes(text), KNOWN, ProblemList()),
    "robots": lambda text: Rules(text, "Tidemill").judge("https://a.test/agenda?x=%20"),
}


class Failed(msgspec.Struct, frozen=True):
    """A case that failed: which target, with what, and how."""

    target: str
    text: str
    reason: str


class Coverage:
    """The lines of our own readers that any case has reached."""

    def __init__(self) -> None:
        """Nothing is reached yet."""
        self.lines: set[tuple[str, int]] = set()

    def _trace(self, frame: FrameType, event: str, _argument: object) -> Any:
        if "tidemill" not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._trace

    def gains(self, case: Callable[[], object]) -> bool:
        """Run the case; answers whether it reached anything new."""
        before = len(self.lines)
        sys.settrace(self._trace)
        try:
            case()
        finally:
            sys.settrace(None)
        return len(self.lines) > before


class Fuzzer:
    """Makes cases out of those that were worth keeping, and tries them."""

    def __init__(self, seed: int) -> None:
        """The same seed makes the same cases."""
        self._draw = random.Random(seed)  # noqa: S311 - cases, not secrets
        self._coverage = Coverage()
        self._kept = [shape(size) for shape in (*MARKUP.values(), *TEXT.values()) for size in (1, 3)]
        self.cases = 0

    @property
    def reached(self) -> int:
        """How many lines have been reached."""
        return len(self._coverage.lines)

    def run(self, seconds: float, most: int = sys.maxsize) -> Iterator[Failed]:
        """Try cases until the time is up; yields those that fail."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and self.cases < most:
            text = self._mutated(self._draw.choice(self._kept))
            for target in TARGETS:
                if (failed := self._failure(target, text)) is not None:
                    yield failed
            self.cases += 1

    def _failure(self, target: str, text: str) -> Failed | None:
        began = time.thread_time()
        try:
            if self._coverage.gains(lambda: TARGETS[target](text)) and len(self._kept) < MOST_KEPT:
                self._kept.append(text)
        except Mistake:
            return None
        except Exception:  # noqa: BLE001 - whatever it is, is what we look for
            return Failed(target, text, traceback.format_exc(limit=-3))
        taken = time.thread_time() - began
        return Failed(target, text, f"{taken:.1f} s") if taken > BUDGET_SECONDS * 20 else None

    def _mutated(self, text: str) -> str:
        for _ in range(self._draw.randint(1, 4)):
            at, other = self._draw.randint(0, len(text)), self._draw.choice(self._kept)
            piece = other[(begins := self._draw.randint(0, len(other))) : begins + self._draw.randint(0, 60)]
            change = self._draw.randrange(4)
            if change == 0:
                text = text[:at] + piece + text[at:]
            elif change == 1:
                text = text[:at] + text[at + self._draw.randint(0, 20) :]
            elif change == 2:  # noqa: PLR2004 - the third way
                text = text[:at] + piece * self._draw.randint(1, 200) + text[at:]
            else:
                text = (
                    text[:at]
                    + chr(self._draw.choice((0, 10, 34, 39, 60, 92, 160, 0x200B, 0xD800, 0x1F600)))
                    + text[at:]
                )
        return text[:LONGEST]


def main() -> None:
    """Fuzz for as long as the command line says; ends with 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))  # noqa: TID251 - printed, to be repeated
    asked = parser.parse_args()
    fuzzer, seen = Fuzzer(asked.seed), set()
    for failed in fuzzer.run(asked.seconds):
        if (key := (failed.target, failed.reason[-200:])) not in seen:
            seen.add(key)
            print(f"{failed.target}: {failed.reason}\n  {failed.text[:500]!r}\n")
    print(f"seed {asked.seed}: {fuzzer.cases} cases, {fuzzer.reached} lines, {len(seen)} failures")
    sys.exit(1 if seen else 0)


if __name__ == "__main__":
    main()
