"""Where a page's processor time goes, part by part: `python -m benchmarks.budget`.

Every part runs alone, group after group, and the quickest group counts. So the figures hold on a busy machine too,
and their sum is what a page costs at the least. Beside them stand the parts of the bare script.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks.contenders.tidemill_system import enqueue, settings_for
from benchmarks.plain_reading import events_on
from benchmarks.plain_store import SqliteStore, page_row
from benchmarks.servers import ROOT, corpus
from benchmarks.task import Task
from tidemill.bootstrap.system import System, build
from tidemill.core.job import transition_for
from tidemill.core.outcome import Outcome
from tidemill.engine.drain import after_checkpoint, run_stage
from tidemill.pipeline.checkpoints import Checkpoint, Claimed
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.fetch import fetch
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

GROUP = 100
GROUPS = 30
"""Twice as many pages are enqueued, so that every claim finds enough hosts with work."""
STAGES = ("parse", "normalize", "persist")


class Ledger:
    """The quickest group of each part, in microseconds of processor time a page; all threads count."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    def note(self, part: str, began: float, pages: int = GROUP) -> None:
        micros = (time.process_time() - began) / pages * 1e6
        self.parts[part] = min(self.parts.get(part, micros), micros)

    def timed(self, part: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        self.note(part, began)
        return result

    async def waited(self, part: str, work: Awaitable[Any]) -> Any:
        began = time.process_time()
        result = await work
        self.note(part, began)
        return result


async def tidemill_parts(task: Task, book: Ledger) -> None:
    """Claim groups and carry each through all stages, as a drain would, but one part at a time."""
    system = build(load_settings(**settings_for(task)))
    try:
        await upgrade(system.store.database)
        await enqueue(system, task)
        await system.worker.sign_in()
        for _ in range(GROUPS):
            await _one_group(system, book)
    finally:
        await system.close()


async def _one_group(system: System, book: Ledger) -> None:
    ledger, clock = system.store.ledger, system.clock
    await ledger.reserve_keys(100 * GROUP)
    claimed = await book.waited("claim", ledger.claim("http", GROUP, system.worker.key(), clock.now()))
    assert len(claimed) == GROUP, len(claimed)
    outcomes = await book.waited("fetch", asyncio.gather(*(fetch(each, system.tools) for each in claimed)))
    batch = book.timed("moves", lambda: _checkpoints(system, claimed, outcomes))
    await book.waited("commit after fetch", ledger.commit(batch, clock.now()))
    for stage in STAGES:
        work = [(after_checkpoint(each), each.outcome.produced) for each in batch]
        outcomes = book.timed(stage, partial(_run_all, work, system.tools))
        batch = _checkpoints(system, [each for each, _ in work], outcomes)
        committed = await book.waited(f"commit after {stage}", ledger.commit(batch, clock.now()))
        assert len(committed.still_leased) == GROUP, "a lease was lost"


def _run_all(work: list[tuple[Claimed, object]], tools: StageDependencies) -> list[Outcome]:
    return [run_stage(claimed, material, tools) for claimed, material in work]


def _checkpoints(system: System, claimed: list[Claimed], outcomes: list[Any]) -> list[Checkpoint]:
    now, policy = system.clock.now(), system.verticals["events"].policy
    return [
        Checkpoint(each, outcome, transition_for(each.job, outcome, policy, now, 0.5))
        for each, outcome in zip(claimed, outcomes, strict=True)
    ]


async def bare_parts(task: Task, book: Ledger) -> None:
    """The bare script, one part at a time."""
    store, urls = SqliteStore(task.sqlite_file + "-bare"), list(task.urls())
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def get(url: str) -> bytes:
            async with session.get(url) as response:
                return await response.read()

        for group in range(GROUPS):
            some = urls[group * GROUP : (group + 1) * GROUP]
            bodies = await book.waited("fetch", asyncio.gather(*map(get, some)))
            rows = book.timed("parse", lambda: [events_on(*each) for each in zip(bodies, some, strict=True)])  # noqa: B023
            began = time.process_time()
            for url, body, events in zip(some, bodies, rows, strict=True):
                store.add(page_row(url, 200, body), events)
            book.note("commit", began)
    store.close()


def show(console: Console, ours: Ledger, bare: Ledger) -> None:
    table = Table("", "Tidemill", "bare script", title="Processor time, microseconds a page", title_justify="left")
    for part in [*ours.parts, *(part for part in bare.parts if part not in ours.parts)]:
        cells = (f"{book.parts[part]:.0f}" if part in book.parts else "" for book in (ours, bare))
        table.add_row(part, *cells)
    table.add_section()
    table.add_row("together", f"{sum(ours.parts.values()):.0f}", f"{sum(bare.parts.values()):.0f}")
    console.print(table)


def main() -> None:
    parent = ROOT / "build"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder, corpus(50) as origins:
        task = Task(origins, 2 * GROUP * GROUPS, f"sqlite:///{Path(folder) / 'budget.db'}", folder)
        ours, bare = Ledger(), Ledger()
        uvloop.run(tidemill_parts(task, ours))
        uvloop.run(bare_parts(task, bare))
        show(Console(), ours, bare)


if __name__ == "__main__":
    main()
