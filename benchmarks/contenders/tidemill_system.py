"""Tidemill itself: the whole pipeline with every checkpoint durable, wired as in production."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import uvloop

from benchmarks.results import found_in_tidemill
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, source_name, task_from_command_line
from tidemill.bootstrap.system import System, build
from tidemill.core.run import Trigger
from tidemill.engine.interpreter import tune_interpreter
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

PARALLEL = 4
"""Requests under way per host, without spacing: fifty hosts of ours, so that only the work itself counts."""


def entries(task: Task) -> Iterator[dict[str, object]]:
    """One source per host, in the form of a sources file."""
    for number, origin in enumerate(task.origins):
        yield {
            "name": source_name(origin),
            "vertical": "events",
            "base_url": origin,
            "adapter": "events.generic",
            "pace": {"interval_seconds": 0, "burst": PARALLEL, "parallel": PARALLEL},
            "targets": list(islice(task.urls(), number, None, len(task.origins))),
        }


def settings_for(task: Task) -> dict[str, Any]:
    """What differs from the defaults: our own address is allowed, and the queue may hold all pages at once."""
    return {
        "database": task.database,
        "allow_networks": ["127.0.0.0/8"],
        "max_pending": task.pages + 1,
        "max_pending_per_adapter": task.pages + 1,
    }


async def enqueue(system: System, task: Task) -> float:
    """Bring the sources in and enqueue every page, source by source; answers the seconds that enqueueing took."""
    for entry in entries(task):
        imported = await system.actions.importer.source_entries([entry], "bench")
        assert not imported.problems, imported.problems
    began, jobs = time.perf_counter(), 0
    for source in await system.store.sources.every():
        due = await system.store.agenda.of_source(source.id)
        jobs += (await system.dispatcher.enqueue(due, Trigger.MANUAL))[0].jobs
    assert jobs == task.pages, jobs
    return time.perf_counter() - began


async def run(task: Task) -> Figures:
    system, watch = build(load_settings(**settings_for(task))), Stopwatch()
    try:
        await upgrade(system.store.database)
        enqueued = await enqueue(system, task)
        await system.worker.sign_in()
        drain = system.make_drain()
        watch.start()
        await drain.run("http")
        watch.stop()
        peak = peak_megabytes()
        found = await found_in_tidemill(system)
    finally:
        await system.close()
    return Figures(watch.seconds, watch.cpu_seconds, peak, found, watch.waited_seconds, {"enqueue_seconds": enqueued})


if __name__ == "__main__":
    tune_interpreter()
    answer(uvloop.run(run(task_from_command_line())))
