"""What watching costs: pages with and without listeners, a minute's checks, and `/metrics` with 10^4 sources.

Both sides take turns in one process, on the same pages of the same hosts, so that what slows one slows the other.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TextIO

import uvloop

from benchmarks.contenders.tidemill_system import entries, settings_for
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, web_deps
from tidemill.core.run import Trigger
from tidemill.engine.interpreter import tune_interpreter
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade
from tidemill.telemetry.logs import log_listener, make_logger
from tidemill.web.system_monitor import SystemMonitor

HOSTS_AT_ONCE = 5
MINUTE_MS = 60_000
SOURCES, SOURCES_AT_ONCE = 10_000, 500
CHECKS = ("objectives", "alerts", "outbox")
CHECKED = 15


def complain(words: str, error: Exception) -> None:
    """A listener that fails voids the figure."""
    raise RuntimeError(words) from error


async def opened(task: Task, name: str, listeners: Listeners) -> System:
    """A system of its own with every source."""
    options = settings_for(task) | {
        "database": f"{task.database}-{name}",
        "pages_folder": Path(task.sqlite_file).parent / name,
    }
    system = build(load_settings(**options, objectives=[{"vertical": "events", "within": "36h"}]), announce=listeners)
    await upgrade(system.store.database)
    done = await system.actions.importer.source_entries(list(entries(task)), "bench")
    assert not done.problems, done.problems
    await system.worker.sign_in()
    return system


async def pages_of(system: System, source_ids: Sequence[int]) -> float:
    """Carry the pages of some sources through every stage; answers the seconds of processor time."""
    for source_id in source_ids:
        await system.dispatcher.enqueue(await system.store.agenda.of_source(source_id), Trigger.MANUAL)
    began = time.process_time()
    await system.make_drain().run("http")
    await system.ticks.chores["close_runs"].run()
    return time.process_time() - began


async def checks(system: System) -> float:
    """A minute's checks; answers the milliseconds of processor time of the usual one."""
    took = []
    for _ in range(CHECKED):
        began = time.process_time()
        for name in CHECKS:
            await system.ticks.chores[name].run()
        took.append((time.process_time() - began) * 1000)
    return median(took)


async def scrape(system: System, telemetry: Telemetry) -> tuple[float, float]:
    """Ten thousand sources and a cold `/metrics`: milliseconds of processor time, and megabytes."""
    for first in range(0, SOURCES, SOURCES_AT_ONCE):
        some = [
            {"name": f"many {number}", "vertical": "events", "base_url": f"https://many{number}.example",
             "adapter": "events.generic", "targets": ["/agenda"]}
            for number in range(first, first + SOURCES_AT_ONCE)
        ]  # fmt: skip
        await system.actions.importer.source_entries(some, "bench")
    deps = web_deps(system, telemetry, "127.0.0.1")
    took, size = [], 0
    for _ in range(5):
        monitor = SystemMonitor(deps)
        began = time.process_time()
        size = len(deps.metrics.render(await monitor.snapshot()))
        took.append((time.process_time() - began) * 1000)
    return median(took), size / 1e6


def main() -> Figures:
    """Measure, with a log like that of `tidemill up`."""
    task = task_from_command_line()
    with Path(task.sqlite_file + "-log").open("w") as log:
        return uvloop.run(run(task, log))


async def run(task: Task, log: TextIO) -> Figures:
    """Measure both sides in turns."""
    telemetry = Telemetry(complain, log_listener(make_logger("info", "json", log), "info"))
    bare, watched = await opened(task, "bare", Listeners()), await opened(task, "watched", telemetry.listeners)
    watch, spent = Stopwatch(), ([0.0], [0.0])
    watch.start()
    ids = [each.id for each in await bare.store.sources.every()]
    ratios = []
    for place in range(0, len(ids), HOSTS_AT_ONCE):
        some = ids[place : place + HOSTS_AT_ONCE]
        order = [(bare, spent[0]), (watched, spent[1])]
        for system, taken in order if place % 2 else reversed(order):
            taken.append(await pages_of(system, some))
        ratios.append(spent[1][-1] / spent[0][-1])
    watch.stop()
    minute = await checks(watched)
    metrics_ms, metrics_mb = await scrape(watched, telemetry)
    figures = Figures(
        seconds=watch.seconds, cpu_seconds=watch.cpu_seconds, peak_mb=peak_megabytes(),
        found={"pages": int(telemetry.metrics.answers.count("2xx"))}, waited_seconds=watch.waited_seconds,
        extra={
            "listening": median(ratios), "minute_ms": minute, "metrics_ms": metrics_ms, "metrics_mb": metrics_mb,
            "watching": median(ratios) + minute / MINUTE_MS,
        },
    )  # fmt: skip
    for system in (bare, watched):
        await system.close()
    return figures


if __name__ == "__main__":
    tune_interpreter()
    answer(main())
