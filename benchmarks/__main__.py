"""Measure Tidemill beside Scrapy and a bare script: `python -m benchmarks`."""

import argparse
import compileall
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks import extremes, report
from benchmarks.contest import CONTENDERS, Arena, Run
from benchmarks.extremes import Measured
from benchmarks.goals import goals
from benchmarks.servers import ROOT, corpus, postgres

HOSTS = 50
EXTREMES = (
    "mix",
    "second-mix",
    "pools",
    "replay",
    "claims",
    "slow-host",
    "fetch",
    "watching",
    "browser",
    "products",
    "ticks",
    "homes",
    "reading",
    "real",
    "feed",
    "prices",
    "history",
)
NAMES = (*(contender.name for contender in CONTENDERS), *EXTREMES)


class Plan(msgspec.Struct, frozen=True):
    """What to measure, and how thoroughly."""

    only: tuple[str, ...]
    pages: int
    many_pages: int
    rounds: int
    jobs: tuple[int, int]
    pages_per_host: int
    browser_pages: int
    events: tuple[int, int]
    prices: tuple[int, int]


THOROUGH = Plan(NAMES, 2_000, 20_000, 3, (10_000, 1_000_000), 20, 60, (10_000, 1_000_000), (10_000, 10_000_000))
QUICK = Plan(NAMES, 500, 0, 1, (5_000, 25_000), 6, 15, (2_000, 20_000), (10_000, 200_000))


def main() -> int:
    """Measure, show and write; answers 1 only when a contender's result was wrong."""
    arguments = _arguments()
    console = Console()
    folder = Path(arguments.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    compileall.compile_dir(ROOT / "src", quiet=1)  # as an installation does: else each process compiles it anew
    runs: list[Run] = []
    measured: list[Measured] = []
    try:
        for one in _measure(_plan(arguments), folder, console):
            (runs if isinstance(one, Run) else measured).append(one)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        console.print("Stopped; this is what there is.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    reached = goals(runs, measured)
    report.show(console, runs, measured, reached)
    report.write(Path(arguments.json), runs, measured, reached)
    console.print(f"The figures are in {arguments.json}.")
    return int(any(run.problems for run in runs) or any(one.problem for one in measured))


def _measure(plan: Plan, folder: Path, console: Console) -> Iterator[Run | Measured]:
    with ExitStack() as stack:
        on_postgres = {contender.name for contender in CONTENDERS if contender.on_postgres}
        needs_postgres = (on_postgres | {"claims"}) & set(plan.only)
        server = stack.enter_context(postgres(folder / "postgres")) if needs_postgres else None
        if needs_postgres and server is None:
            console.print("There is no PostgreSQL on this machine: what needs it is left out.")
        arena = Arena(stack.enter_context(corpus(HOSTS)), folder, server)
        for run in _contest(plan, arena):
            told = (
                "; ".join(run.problems) or f"{run.pages_per_second:,.0f} pages/s, {run.cpu_ms_per_page:.2f} CPU ms/page"
            )
            console.print(f"round {run.round}: {run.contender}, {run.pages:,} pages: {told}", highlight=False)
            yield run
        for one in _mixes(plan, arena):
            console.print(f"measured: {one.name}", highlight=False)
            yield one
        missing = extremes.no_browser() if "browser" in plan.only else ""
        if missing:
            console.print(f"Left out: browser ({missing}).", highlight=False)
        for one in _extremes(plan, arena, with_browser="browser" in plan.only and not missing):
            console.print(f"measured: {one.name}", highlight=False)
            yield one


def _mixes(plan: Plan, arena: Arena) -> Iterator[Measured]:
    for name in ("mix", "second-mix"):
        if name in plan.only:
            yield from extremes.mixed(arena, name, HOSTS, plan.pages, plan.rounds)
    if "pools" in plan.only:
        yield from extremes.pools(arena, "mix", HOSTS, plan.pages, plan.rounds)
    if "replay" in plan.only:
        yield from extremes.replays(arena, HOSTS, plan.pages, plan.rounds)


def _contest(plan: Plan, arena: Arena) -> Iterator[Run]:
    """Round by round, everybody in each; who goes first moves on, so that a busy moment hits each alike."""
    wanted = [one for one in CONTENDERS if one.name in plan.only and (arena.postgres or not one.on_postgres)]
    for number in range(plan.rounds):
        for contender in wanted[number % len(wanted) :] + wanted[: number % len(wanted)] if wanted else []:
            yield arena.run(contender, plan.pages, number + 1)
            if plan.many_pages and contender.name == "tidemill" and number == 0:
                yield arena.run(contender, plan.many_pages, number + 1)
    if plan.many_pages:
        for contender in wanted:
            if not contender.on_postgres and contender.name != "tidemill":
                yield arena.run(contender, plan.many_pages, 1)


def _extremes(plan: Plan, arena: Arena, *, with_browser: bool) -> Iterator[Measured]:  # noqa: C901, PLR0912 - a list of them
    if "fetch" in plan.only:
        yield extremes.fetching(arena, plan.pages)
    if "watching" in plan.only:
        yield extremes.watching(arena, plan.pages)
    if with_browser:
        yield extremes.browser(arena, plan.browser_pages)
    if "products" in plan.only:
        yield extremes.products(arena)
    if "reading" in plan.only:
        yield extremes.reading(arena)
    if "real" in plan.only:
        yield extremes.real_pages(arena)
    if "feed" in plan.only:
        for events in plan.events:
            yield extremes.feed(arena, events)
    yield from _prices(plan, arena)
    if "ticks" in plan.only:
        for jobs in plan.jobs:
            yield extremes.ticks(arena, jobs)
    if "homes" in plan.only:
        for homes in plan.jobs:
            yield extremes.homes(arena, homes)
    if "slow-host" in plan.only:
        yield extremes.slow_host(arena, plan.pages_per_host)
    if "claims" in plan.only:
        for on_postgres in (False, True) if arena.postgres else (False,):
            for jobs in plan.jobs:
                yield extremes.claims(arena, jobs, on_postgres=on_postgres)


def _prices(plan: Plan, arena: Arena) -> Iterator[Measured]:
    if "prices" in plan.only:
        for contender in ("tidemill", "scrapy"):
            yield extremes.product_pages(arena, plan.pages, contender)
    if "history" in plan.only:
        for prices in plan.prices:
            yield extremes.history(arena, prices)


def _plan(arguments: argparse.Namespace) -> Plan:
    plan = QUICK if arguments.quick else THOROUGH
    changes: dict[str, object] = {}
    if arguments.only:
        changes["only"] = tuple(arguments.only)
    if arguments.pages:
        changes |= {"pages": arguments.pages, "many_pages": 0}
    if arguments.many_pages is not None:
        changes["many_pages"] = arguments.many_pages
    if arguments.rounds:
        changes["rounds"] = arguments.rounds
    return msgspec.structs.replace(plan, **changes)


def _arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="a look in under a minute, instead of ten")
    parser.add_argument("--only", type=_names, help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--pages", type=int, help="pages per run, instead of 2,000 and 20,000")
    parser.add_argument("--many-pages", type=int, help="pages of the long run; 0 leaves it out")
    parser.add_argument("--rounds", type=int, help="how often everybody runs; medians are shown")
    parser.add_argument("--json", default="bench.json", help="where the figures go")
    parser.add_argument("--folder", default=str(ROOT / "build" / "bench"), help="where databases live meanwhile")
    return parser.parse_args(words)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        msg = f"unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}"
        raise argparse.ArgumentTypeError(msg)
    return names


if __name__ == "__main__":
    sys.exit(main())
