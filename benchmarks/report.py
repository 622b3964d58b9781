"""The figures as a table for people and as JSON for machines."""

import os
import platform
import resource
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.contest import CONTENDERS, Contender, Run
from benchmarks.extremes import Measured
from benchmarks.goals import Goal, paired, paired_cpu
from benchmarks.task import Figures

MEASURED_WITH = ("tidemill", "scrapy", "aiohttp", "selectolax", "sqlalchemy", "uvloop")


def show(console: Console, runs: Sequence[Run], measured: Sequence[Measured], goals: Sequence[Goal]) -> None:
    """Everything at a glance: a table per number of pages, then the rest, then what holds and what does not."""
    for pages in sorted({run.pages for run in runs}):
        console.print(_contest(runs, pages))
    if measured:
        console.print(_extremes(measured))
    if goals:
        console.print(_goals(goals))
    for run in runs:
        for problem in run.problems:
            console.print(f"[red]{run.contender}, {run.pages:,} pages: {problem}", highlight=False)


def installed(name: str) -> str:
    """The version of a package; '' where it is not needed and not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def write(file: Path, runs: Sequence[Run], measured: Sequence[Measured], goals: Sequence[Goal]) -> None:
    """All figures, run by run, and what follows from them."""
    content = {
        "at": datetime.now(UTC),  # noqa: TID251 - a report of its own, outside Tidemill
        "machine": {"cpus": os.cpu_count(), "load_at_the_end": os.getloadavg(), "python": platform.python_version()},
        "versions": {name: found for name in MEASURED_WITH if (found := installed(name))},
        "runs": [
            {
                **msgspec.to_builtins(run),
                "pages_per_second": run.pages_per_second,
                "cpu_ms_per_page": run.cpu_ms_per_page,
            }
            for run in runs
        ],
        "measured": measured,
        "goals": [{**msgspec.to_builtins(goal), "holds": goal.holds} for goal in goals],
        "largest_child_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    file.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")


def _contest(runs: Sequence[Run], pages: int) -> Table:
    table = Table(title=f"{pages:,} pages of 30 KB with 16 events each", title_justify="left")
    table.add_column("")
    for heading in ("pages/s", "CPU ms/page", "peak MB", "Tidemill: speed", "CPU"):
        table.add_column(heading, justify="right")
    for contender in CONTENDERS:
        mine = [run for run in runs if (run.contender, run.pages) == (contender.name, pages) and run.figures]
        if mine:
            table.add_row(
                contender.title,
                f"{median(run.pages_per_second for run in mine):,.0f}",
                f"{median(run.cpu_ms_per_page for run in mine):.2f}",
                f"{median(run.figures.peak_mb for run in mine if run.figures):.0f}",
                *_against(runs, contender, pages),
            )
    return table


def _against(runs: Sequence[Run], contender: Contender, pages: int) -> tuple[str, str]:
    """How many times faster Tidemill was than this one, and with how many times less processor time."""
    ours = "tidemill-postgres" if contender.on_postgres else "tidemill"
    pair = (ours, pages), (contender.name, pages)
    speed, cpu = paired(runs, *pair), paired_cpu(runs, *pair)
    if contender.name == ours or not speed:
        return "", ""
    return f"{median(speed):.2f} x", f"{median(cpu):.2f} x less"


def _extremes(measured: Sequence[Measured]) -> Table:
    table = Table("", "", title="Beside the contest", title_justify="left", show_header=False)
    for one in measured:
        table.add_row(one.name, f"[red]{one.problem[-300:]}" if one.figures is None else _told(one.figures))
    return table


TOLD = {
    "publish_seconds": "{mixed_pages_per_second:,.0f} pages/s, {cpu_ms_per_page:.2f} CPU ms/page; enqueueing "
    "{enqueue_seconds:.2f} s and publishing {publish_seconds:.2f} s of {seconds:.2f}",
    "mixed_pages_per_second": "{mixed_pages_per_second:,.0f} pages/s, {cpu_ms_per_page:.2f} CPU ms/page",
    "median_ms": "{median_ms:.1f} ms (worst {worst_ms:.1f})",
    "watching": "{listening:.3f} x the processor time of a page, {minute_ms:.0f} ms for a minute's checks; "
    "/metrics with 10,000 sources {metrics_ms:.0f} ms and {metrics_mb:.2f} MB",
    "fetch_ratio": "{fetch_micros:.0f} us of CPU a page, bare aiohttp {bare_micros:.0f}",
    "extruct_ms_per_page": "{ms_per_page:.2f} ms of CPU a page, extruct with price-parser {extruct_ms_per_page:.2f}",
    "real_pages_per_second": "{real_pages_per_second:.0f} pages a second of processor time "
    "(a calendar {events_ms:.1f} ms, a product {products_ms:.1f}); selectolax alone {parsed_pages_per_second:.0f}, "
    "extruct {extruct_pages_per_second:.0f}",
    "history_ms": "{history_ms:.1f} ms (worst {worst_ms:.1f})",
    "product_pages_per_second": "{product_pages_per_second:,.0f} pages/s",
    "browser_ratio": "{pages_a_minute:.0f}, plain Playwright code {plain_pages_a_minute:.0f}",
    "decay_ms": "{search_ms:.1f} ms a search, {newest_ms:.1f} the newest, {near_ms:.1f} nearby, "
    "{fading_ms:.1f} what fades, {decay_ms:.1f} what is over",
    "ideal_seconds": "{seconds:.1f} s where {ideal_seconds:.1f} s are ideal",
}
"""What is told of a measurement, by the figure that only it has."""


def _told(figures: Figures) -> str:
    """The figures that a measurement has of its own, in words."""
    known = {"seconds": figures.seconds, **figures.extra}
    words = next((words for name, words in TOLD.items() if name in known), "")
    return words.format(**known) or ", ".join(f"{name} {value:g}" for name, value in figures.extra.items())


def _goals(goals: Sequence[Goal]) -> Table:
    table = Table("", "measured", "by CPU", "wanted", "", title="Goals", title_justify="left")
    for goal in goals:
        digits = 0 if goal.unit == " MB" else 2
        wanted = f"{'at least' if goal.at_least else 'at most'} {goal.bound:g}{goal.unit}"
        further = f", in the end {goal.goal:g}{goal.unit}" if goal.goal else ""
        verdict = "[yellow]unsure" if goal.unsure else "[green]pass" if goal.holds else "[red]miss"
        cpu = "" if goal.cpu is None else f"{goal.cpu:.2f}{goal.unit}"
        table.add_row(goal.name, f"{goal.value:.{digits}f}{goal.unit}", cpu, wanted + further, verdict)
    if any(goal.unsure for goal in goals):
        table.caption = "Unsure: others on this machine took more than a tenth of the time. Run again when it is quiet."
    return table
