"""Tidemill with one slow host beside many fast ones: how long do the fast ones take, against their ideal?"""

import asyncio
import sys

import uvloop

from benchmarks.contenders.tidemill_system import settings_for
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, source_name, task_from_command_line
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.core.run import Trigger
from tidemill.pipeline.happenings import Happening, RecordsKept
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

SLOW_JOBS = 1_000
"""Far more than the slow host can serve meanwhile: they wait in front of everybody else's."""


def entries(task: Task, interval: float) -> list[dict[str, object]]:
    """The first host is the slow one; its pages are as urgent as any, and there are many of them."""
    slow, *fast = task.origins
    each = task.pages // len(fast)
    listed = {slow: range(SLOW_JOBS)} | {
        origin: range(number * each, (number + 1) * each) for number, origin in enumerate(fast)
    }
    return [
        {
            "name": source_name(origin),
            "vertical": "events",
            "base_url": origin,
            "adapter": "events.generic",
            "pace": {"interval_seconds": interval, "burst": 1, "parallel": 1},
            "targets": [
                {"url": f"{origin}/bench/{number}", "priority": 10 if origin == slow else 0} for number in numbers
            ],
        }
        for origin, numbers in listed.items()
    ]


class FastPages:
    """Listens until every page of the fast hosts is on the repository."""

    def __init__(self, wanted: int, slow_source: int) -> None:
        self.all_done = asyncio.Event()
        self.left = wanted
        self.slow = 0
        self._slow_source = slow_source

    def __call__(self, happening: Happening) -> None:
        if not isinstance(happening, RecordsKept):
            return
        if happening.source_id == self._slow_source:
            self.slow += 1
            return
        self.left -= 1
        if self.left == 0:
            self.all_done.set()


async def enqueue(system: System, task: Task) -> int:
    """Enqueue everything at once; answers the slow source's key."""
    sources = {source.name: source.id for source in await system.store.sources.every()}
    due = [each for key in sources.values() for each in await system.store.agenda.of_source(key)]
    await system.dispatcher.enqueue(due, Trigger.MANUAL)
    return sources[task.origins[0]]


async def run(task: Task, interval: float) -> Figures:
    settings = settings_for(task) | dict.fromkeys(
        ("max_pending", "max_pending_per_adapter"), task.pages + 2 * SLOW_JOBS
    )
    listeners, watch = Listeners(), Stopwatch()
    system = build(load_settings(**settings), announce=listeners)
    try:
        await upgrade(system.store.database)
        imported = await system.actions.importer.source_entries(entries(task, interval), "bench")
        assert not imported.problems, imported.problems
        fast = FastPages(task.pages, await enqueue(system, task))
        listeners.add(fast)
        await system.worker.sign_in()
        watch.start()
        draining = asyncio.create_task(system.make_drain().run("http"))
        done = asyncio.create_task(fast.all_done.wait())
        await asyncio.wait((draining, done), return_when=asyncio.FIRST_COMPLETED)
        watch.stop()
        draining.cancel()
        done.cancel()
        await asyncio.gather(draining, done, return_exceptions=True)
    finally:
        await system.close()
    found = {"pages": task.pages - fast.left, "slow_pages": fast.slow}
    # Each fast host answers a robots.txt before its pages, one request per interval, the first at once.
    ideal = interval * (task.pages // (len(task.origins) - 1))
    return Figures(
        watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds, {"ideal_seconds": ideal}
    )


if __name__ == "__main__":
    answer(uvloop.run(run(task_from_command_line(), float(sys.argv[2]))))
