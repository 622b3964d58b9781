"""Reading and judging event pages beside what people put together: extruct, BeautifulSoup and dateparser.

Two kinds of page: one with JSON-LD, read by extruct, and a list of cards without any, read by BeautifulSoup with the
site's own selectors. Dates are made sense of by dateparser. They judge nothing and keep no provenance.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

import dateparser
import extruct
import msgspec
from bs4 import BeautifulSoup

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import EVENTS_PER_PAGE, Figures, answer
from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context
from tidemill.lab.messages import LabRequest
from tidemill.lab.world import EPOCH
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.lab.corpus import Corpus
from tidemill.verticals.events.lab.group import world_of
from tidemill.verticals.events.lab.makes import SELECTORS
from tidemill.verticals.events.lab.sites import Make, build_sites

PAGES = 24
ROUNDS = 3
URL = "https://bench.test/bench/1"


def main() -> None:
    structured = [Corpus(date(2026, 11, 3)).page(number) for number in range(PAGES)]
    cards, cards_url = _cards()
    watch = Stopwatch()
    watch.start()
    figures = {
        **_compared("structured", structured, _ours({}), _with_extruct),
        **_compared("cards", cards, _ours(dict(SELECTORS[Make.CARDS]), cards_url), _with_soup),
    }
    watch.stop()
    found = {"pages": len(structured) + len(cards), "events": int(figures.pop("events"))}
    answer(Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds, figures))


def _cards() -> tuple[list[bytes], str]:
    site = next(site for site in build_sites(7, 12) if site.make is Make.CARDS)
    world = world_of([site])
    days = [EPOCH + timedelta(days=number) for number in range(PAGES)]
    bodies = [world.respond(LabRequest(site.host, site.paths[0]), day).body for day in days]
    return bodies, site.origin + site.paths[0]


def _ours(selectors: dict[str, str], url: str = URL) -> Callable[[bytes], int]:
    adapter = EVENTS.adapters["events.selectors" if selectors else "events.generic"]
    source = Source(id=1, name="bench", vertical="events", base_url=url, adapter_id=adapter.id,
                    adapter_settings={"selectors": selectors} if selectors else {})  # fmt: skip
    context = Context(source, url, EPOCH)
    encode = msgspec.json.Encoder().encode

    def read(body: bytes) -> int:
        page = Page(id=1, url=url, final_url=url, status_code=200, body=body, charset="utf-8",
                    content_type="text/html", digest=0, fetched_at=EPOCH)  # fmt: skip
        reading = adapter.read(page, context)
        records = reading.records if isinstance(reading, Found) else ()
        kept = [verdict for raw in records if isinstance(verdict := EVENTS.judge(raw, context), Accepted)]
        return len([encode(one.record) for one in kept])

    return read


def _with_extruct(body: bytes) -> int:
    found = extruct.extract(body.decode(), base_url=URL, syntaxes=["json-ld"])
    events = [item for item in found["json-ld"] if str(item.get("@type", "")).endswith("Event")]
    return sum(dateparser.parse(event["startDate"], languages=["nl"]) is not None for event in events)


def _with_soup(body: bytes) -> int:
    soup, spec = BeautifulSoup(body, "lxml"), SELECTORS[Make.CARDS]
    read = 0
    base = datetime(2026, 11, 2, tzinfo=UTC).replace(tzinfo=None)
    for item in soup.select(spec["item"]):
        when = item.select_one(spec["starts"]).get_text(" ", strip=True)
        item.select_one(spec["title"]).get_text(" ", strip=True)
        item.select_one(spec["place"]).get_text(" ", strip=True)
        item.select_one(spec["description"]).get_text(" ", strip=True)
        text = when.replace(" uur", "").replace(".", ":")
        read += dateparser.parse(text, languages=["nl"], settings={"RELATIVE_BASE": base}) is not None
    return read


def _compared(
    kind: str, pages: Sequence[bytes], ours: Callable[[bytes], int], theirs: Callable[[bytes], int]
) -> dict[str, float]:
    ours(pages[0]), theirs(pages[0])  # whatever is made once, is made now
    mine, events = _timed(ours, pages)
    other, their_events = _timed(theirs, pages)
    per_event = events or 1
    return {
        f"{kind}_us_per_page": mine / len(pages) * 1e6,
        f"{kind}_us_per_event": mine / per_event * 1e6,
        f"{kind}_usual_us_per_page": other / len(pages) * 1e6,
        f"{kind}_usual_us_per_event": other / (their_events or 1) * 1e6,
        f"{kind}_times_as_fast": other / mine,
        "events": EVENTS_PER_PAGE * len(pages),
    }


def _timed(read: Callable[[bytes], int], pages: Sequence[bytes]) -> tuple[float, int]:
    """Processor seconds for all pages, the best of a few rounds, and how many events came of them."""
    best, events = float("inf"), 0
    for _ in range(ROUNDS):
        began = time.process_time()
        events = sum(read(page) for page in pages)
        best = min(best, time.process_time() - began)
    return best, events


if __name__ == "__main__":
    main()
