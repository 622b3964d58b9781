"""What is measured beside the contest: claims with a million jobs pending, and one slow host among fast ones."""

from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.contest import Arena, started
from benchmarks.mixed_pages import KINDS, Kinds, wanted
from benchmarks.mixes import MIXES, Mix
from benchmarks.servers import corpus, mixed_corpus
from benchmarks.task import Figures, Task
from tidemill.fetching.browsers.errors import NoBrowser
from tidemill.fetching.browsers.find_browser import find_browser

INTERVAL = 0.5
"""Seconds between two requests to a host, fast or slow: fifty hosts ask for 100 pages a second."""
FAST_HOSTS = 50
SLOW_SECONDS = 2.0


class Measured(msgspec.Struct, frozen=True):
    """A figure by name, or what went wrong with it."""

    name: str
    figures: Figures | None
    problem: str = ""


def claims(arena: Arena, jobs: int, *, on_postgres: bool) -> Measured:
    """The time of a claim with so many jobs pending."""
    name = f"claim with {jobs:,} jobs pending on {'PostgreSQL' if on_postgres else 'SQLite'}"
    with arena.fresh_database(on_postgres=on_postgres) as database:
        return Measured(name, *started("tidemill_claims", Task([], 0, database, ""), str(jobs)))


def slow_host(arena: Arena, pages_per_host: int) -> Measured:
    """The time that fifty fast hosts take beside a slow one."""
    with (
        corpus(FAST_HOSTS + 1, slow_hosts=1, slow_seconds=SLOW_SECONDS) as origins,
        arena.fresh_database(on_postgres=False) as database,
    ):
        task = Task(origins, FAST_HOSTS * pages_per_host, database, "")
        figures, problem = started("tidemill_slow_host", task, str(INTERVAL))
    if figures is not None and figures.found["pages"] != task.pages:
        problem = f"only {figures.found['pages']} of {task.pages} pages of the fast hosts came in"
    return Measured("one slow host beside fifty fast ones", None if problem else figures, problem)


def fetching(arena: Arena, pages: int) -> Measured:
    """Our fetch stage with every gate on, beside bare aiohttp."""
    with arena.fresh_database(on_postgres=False) as database:
        figures, problem = started("fetching", Task(arena.origins, pages, database, ""))
    if figures is not None and figures.found["pages"] != pages:
        problem = f"only {figures.found['pages']} of {pages} pages came"
    return Measured("fetching alone", None if problem else figures, problem)


def watching(arena: Arena, pages: int) -> Measured:
    """Pages with and without everything that watches, a minute's checks, and `/metrics` with many sources."""
    with arena.fresh_database(on_postgres=False) as database:
        figures, problem = started("watching", Task(arena.origins, pages, database, ""))
    if figures is not None and figures.found["pages"] != pages:
        problem = f"only {figures.found['pages']} of {pages} pages were counted"
    return Measured("watching", None if problem else figures, problem)


def browser(arena: Arena, pages: int) -> Measured:
    """Pages that need JavaScript, beside plain Playwright code."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured("browser pages a minute", *started("browser", Task([], 0, database, ""), str(pages)))


def products(arena: Arena) -> Measured:
    """Reading product pages, beside extruct with price-parser."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured("reading product pages", *started("product_reading", Task([], 0, database, "")))


def reading(arena: Arena) -> Measured:
    """Reading and judging event pages, beside extruct, BeautifulSoup and dateparser."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured("reading event pages", *started("event_reading", Task([], 0, database, "")))


def real_pages(arena: Arena) -> Measured:
    """Reading the fixtures' real pages, beside selectolax and extruct."""
    with arena.fresh_database(on_postgres=False) as database:
        figures, problem = started("real_reading", Task([], 0, database, ""))
    if figures is not None and not any(figures.found.values()):
        problem = "there are no real pages beside the checkout"
    return Measured("reading real pages", None if problem else figures, problem)


def feed(arena: Arena, events: int) -> Measured:
    """A page of the feed with so many events known."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured(
            f"feed with {events:,} events", *started("tidemill_feed", Task([], 0, database, ""), str(events))
        )


def history(arena: Arena, prices: int) -> Measured:
    """A reader's question about one product's history with so many prices kept."""
    with arena.fresh_database(on_postgres=False) as database:
        name = f"history of a product with {prices:,} prices kept"
        return Measured(name, *started("price_history", Task([], 0, database, ""), str(prices)))


def product_pages(arena: Arena, pages: int, contender: str) -> Measured:
    """Product pages through the whole pipeline, be it ours or Scrapy's."""
    with arena.fresh_database(on_postgres=False) as database:
        figures, problem = started("product_pages", Task(arena.origins, pages, database, ""), contender)
    if figures is not None and figures.found["prices"] != pages:
        problem = f"only {figures.found['prices']} of {pages} prices were kept"
    if figures is not None:
        figures = msgspec.structs.replace(figures, extra={"product_pages_per_second": pages / figures.seconds})
    return Measured(f"product pages through {contender}", None if problem else figures, problem)


MIXED = ("tidemill", "scrapy", "bare")
POOLS = (1, 2, 4)
TYPED = ("crawl", "up")


def mixed(arena: Arena, name: str, hosts: int, pages: int, rounds: int) -> Iterator[Measured]:
    """A mix through everybody, round by round; who goes first moves on."""
    mix = MIXES[name]
    with mixed_corpus(hosts, pages, mix.module) as origins:
        for number in range(rounds):
            first = number % len(MIXED)
            for contender in MIXED[first:] + MIXED[:first]:
                told = f"{name}, round {number + 1}: {contender}"
                yield _of_mix(arena, told, origins, pages, mix, "mixed", name, contender)


def pools(arena: Arena, name: str, hosts: int, pages: int, rounds: int) -> Iterator[Measured]:
    """A mix through Tidemill with so many readers, and through what a person types."""
    mix = MIXES[name]
    with mixed_corpus(hosts, pages, mix.module) as origins:
        for number in range(rounds):
            for size in POOLS:
                told = f"{name}, round {number + 1}, readers: {size}"
                yield _of_mix(arena, told, origins, pages, mix, "mixed", name, "tidemill", str(size))
            for command in TYPED:
                told = f"{name}, round {number + 1}, typed: tidemill {command}"
                yield _of_mix(arena, told, origins, pages, mix, "typed", name, command)


def _of_mix(arena: Arena, told: str, origins: list[str], pages: int, mix: Mix, module: str, *words: str) -> Measured:
    with arena.fresh_database(on_postgres=False) as database:
        task = Task(origins, pages, database, "")
        figures, problem = started(module, task, *words)
    return checked(told, task, figures, problem, mix.kinds)


REPLAYED = ("present", "mixed")
REPLAYERS = ("fill", "scrapy", "tidemill")


def replays(arena: Arena, hosts: int, pages: int, rounds: int) -> Iterator[Measured]:
    """Stored pages read again, beside Scrapy reading the same from its HTTP cache, on two corpora."""
    for kind in REPLAYED:
        with ExitStack() as stack:
            origins = stack.enter_context(mixed_corpus(hosts, pages)) if kind == "mixed" else arena.origins
            cache = stack.enter_context(TemporaryDirectory(prefix="bench-cache-"))
            for number in range(rounds):
                for contender in REPLAYERS if number == 0 else REPLAYERS[1:]:
                    with arena.fresh_database(on_postgres=False) as database:
                        task = Task(origins, pages, database, cache)
                        figures, problem = started("replaying", task, contender, kind)
                    if figures is not None and (figures.found["pages"], figures.found["differing"]) != (pages, 0):
                        problem = f"{figures.found['pages']} of {pages} pages, {figures.found['differing']} differ"
                    if contender != "fill" or problem:
                        name = f"replay of {kind} pages, round {number + 1}: {contender}"
                        yield Measured(name, None if problem else figures, problem)


def checked(name: str, task: Task, figures: Figures | None, problem: str, kinds: Kinds = KINDS) -> Measured:
    """The figures with what they come to a page, or what is wrong with the result."""
    if figures is None:
        return Measured(name, None, problem)
    right = wanted(task, kinds)
    right |= {"published": right["events"], "jobs_done": task.pages, "runs_open": 0}
    wrong = {key: count for key, count in figures.found.items() if count != right[key]}
    if wrong:
        return Measured(name, None, "; ".join(f"{key}: {wrong[key]} where {right[key]} should be" for key in wrong))
    extra = {
        "mixed_pages_per_second": task.pages / figures.seconds,
        "cpu_ms_per_page": figures.cpu_seconds / task.pages * 1000,
        **figures.extra,
    }
    return Measured(name, msgspec.structs.replace(figures, extra=extra))


def ticks(arena: Arena, jobs: int) -> Measured:
    """The periodic work with so many jobs past."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured(
            f"ticks at {jobs:,} past jobs", *started("tidemill_ticks", Task([], 0, database, ""), str(jobs))
        )


def homes(arena: Arena, count: int) -> Measured:
    """Searching, checking and letting go among so many homes for rent."""
    with arena.fresh_database(on_postgres=False) as database:
        return Measured(f"{count:,} homes for rent", *started("tidemill_homes", Task([], 0, database, ""), str(count)))


def no_browser() -> str:
    """Why there is no browser to measure with; '' when there is."""
    try:
        find_browser()
    except NoBrowser as missing:
        return str(missing)
    return ""
