"""Fetching alone: our fetch stage with every gate on, beside bare aiohttp, group by group in one process.

The two take turns, so that a busy moment hits both, and each group's ratio counts. Claims and commits are made between
the groups and not counted: what is measured is the way from a claimed job to its page.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median

import aiohttp
import uvloop

from benchmarks.contenders.tidemill_system import enqueue, settings_for
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import System, build
from tidemill.core.job import transition_for
from tidemill.core.outcome import Advance
from tidemill.engine.interpreter import tune_interpreter
from tidemill.pipeline.checkpoints import Checkpoint, Claimed
from tidemill.pipeline.fetch import fetch
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

GROUP = 100
"""Pages at a time, all of them under way together, on either side."""


class Side:
    """One of the two: what each of its groups took, on the clock and on the processor."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []
        self.pages = 0

    async def group(self, works: Sequence[Awaitable[bool]]) -> None:
        """Do one group; each work answers whether its page came."""
        clock, cpu = time.perf_counter(), time.process_time()
        came = await asyncio.gather(*works)
        self.seconds.append(time.perf_counter() - clock)
        self.cpu_seconds.append(time.process_time() - cpu)
        self.pages += sum(came)


def ours(system: System, batch: list[Checkpoint]) -> Callable[[Claimed], Awaitable[bool]]:
    policy = system.verticals["events"].policy

    async def get(claimed: Claimed) -> bool:
        outcome = await fetch(claimed, system.tools)
        batch.append(
            Checkpoint(claimed, outcome, transition_for(claimed.job, outcome, policy, system.clock.now(), 0.5))
        )
        return isinstance(outcome, Advance)

    return get


def bare(session: aiohttp.ClientSession) -> Callable[[str], Awaitable[bool]]:
    async def get(url: str) -> bool:
        async with session.get(url) as response:
            return response.status == 200 and bool(await response.read())

    return get


async def next_group(system: System) -> list[Claimed]:
    """The next jobs, as a drain would take them."""
    await system.store.ledger.reserve_keys(4 * GROUP)
    return await system.store.ledger.claim("http", GROUP, system.worker.key(), system.clock.now())


def ratio(theirs: list[float], mine: list[float]) -> float:
    """How fast ours is beside theirs; the first group of each opens the connections and does not count."""
    return median(one / other for one, other in zip(theirs[1:], mine[1:], strict=True))


async def run(task: Task) -> Figures:
    system, watch = build(load_settings(**settings_for(task))), Stopwatch()
    mine, theirs = Side(), Side()
    await upgrade(system.store.database)
    await enqueue(system, task)
    await system.worker.sign_in()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        plain = bare(session)
        watch.start()
        while group := await next_group(system):
            batch: list[Checkpoint] = []
            gated = ours(system, batch)
            await theirs.group([plain(each.job.url) for each in group])
            await mine.group([gated(each) for each in group])
            await system.store.ledger.commit(batch, system.clock.now())
        watch.stop()
    await system.close()
    extra = {
        "fetch_ratio": ratio(theirs.seconds, mine.seconds),
        "fetch_ratio_cpu": ratio(theirs.cpu_seconds, mine.cpu_seconds),
        "fetch_micros": median(mine.cpu_seconds) / GROUP * 1e6,
        "bare_micros": median(theirs.cpu_seconds) / GROUP * 1e6,
    }
    found = {"pages": min(mine.pages, theirs.pages), "fetched": mine.pages, "fetched_bare": theirs.pages}
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds, extra)


if __name__ == "__main__":
    tune_interpreter()
    answer(uvloop.run(run(task_from_command_line())))
