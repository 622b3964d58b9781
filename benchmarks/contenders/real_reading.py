"""Reading the fixtures' real pages beside selectolax, which only parses them, and extruct, which reads their data."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import extruct
from selectolax.lexbor import LexborHTMLParser

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, answer
from tidemill.reading import Document, ReadingContext
from tidemill.verticals.events.reading.events import read_events
from tidemill.verticals.prices.reading import read_product

PAGES = Path(__file__).parents[2].parent / "shared" / "fixtures"
CONTEXT = ReadingContext(now=datetime(2024, 1, 1, 12, tzinfo=UTC), time_zone="America/New_York", language="en")
Reader = Callable[[str, str], object]


def pages_of(kind: str) -> list[tuple[str, str]]:
    """The markup and address of every saved page of a kind."""
    found = []
    for expected in sorted(PAGES.rglob(f"{kind}/**/*.expected.json")):
        page = expected.with_name(expected.name.replace(".expected.json", ".html"))
        if page.exists():
            url = json.loads(expected.read_text("utf-8")).get("url") or "https://www.example.com/"
            found.append((page.read_text("utf-8", "replace"), url))
    return found


def _ours_events(markup: str, url: str) -> object:
    return read_events(Document(markup, url), CONTEXT)


def _parsed(markup: str, _: str) -> object:
    return LexborHTMLParser(markup).root


def _with_extruct(markup: str, url: str) -> object:
    try:
        return extruct.extract(markup, base_url=url, syntaxes=["json-ld", "microdata"], errors="ignore")
    except Exception:  # noqa: BLE001 - a page that it cannot read is a page that it has had
        return None


def _milliseconds(read: Reader, pages: list[tuple[str, str]]) -> float:
    began = time.process_time()
    for markup, url in pages:
        read(markup, url)
    return (time.process_time() - began) * 1_000 / max(1, len(pages))


def main() -> None:
    """Read every page once by each; ours first, so that nothing is warm."""
    watch = Stopwatch()
    watch.start()
    told: dict[str, float] = {}
    kinds: dict[str, Reader] = {"events": _ours_events, "products": read_product}
    pages = {kind: pages_of(kind) for kind in kinds}
    for kind, ours in kinds.items():
        told[f"{kind}_ms"] = _milliseconds(ours, pages[kind])
        told[f"{kind}_parse_ms"] = _milliseconds(_parsed, pages[kind])
        told[f"{kind}_extruct_ms"] = _milliseconds(_with_extruct, pages[kind])
    told["real_pages_per_second"] = _per_second(told, pages, "ms")
    told["parsed_pages_per_second"] = _per_second(told, pages, "parse_ms")
    told["extruct_pages_per_second"] = _per_second(told, pages, "extruct_ms")
    watch.stop()
    counts = {kind: len(found) for kind, found in pages.items()}
    answer(Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), counts, watch.waited_seconds, told))


def _per_second(told: dict[str, float], pages: dict[str, list[tuple[str, str]]], which: str) -> float:
    """Pages of both kinds in a second of processor time."""
    spent = sum(told[f"{kind}_{which}"] * len(found) for kind, found in pages.items())
    return 1_000 * sum(map(len, pages.values())) / spent if spent else 0.0


if __name__ == "__main__":
    main()
