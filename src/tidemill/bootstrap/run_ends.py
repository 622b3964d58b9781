"""What is done soon after runs have ended, instead of at the next slot of a chore."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from tidemill.bootstrap.listeners import Listeners
from tidemill.pipeline.happenings import Happening, PartCrashed, RunClosed
from tidemill.pipeline.ports import Clock
from tidemill.plugin import Parts

PAUSE = timedelta(seconds=1)
"""Runs that end within this are followed up together."""


@asynccontextmanager
async def following_run_ends(announce: Listeners, clock: Clock, parts: Collection[Parts]) -> AsyncIterator[None]:
    """Do what the verticals want done after runs, while the block lasts."""
    ended = asyncio.Event()

    def hear(happening: Happening) -> None:
        if isinstance(happening, RunClosed):
            ended.set()

    announce.add(hear)
    following = asyncio.create_task(_follow(announce, clock, parts, ended), name="run ends")
    try:
        yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _follow(announce: Listeners, clock: Clock, parts: Collection[Parts], ended: asyncio.Event) -> None:
    while True:
        await ended.wait()
        ended.clear()
        try:
            await do_after_runs(parts)
        except Exception:  # noqa: BLE001 - the chore does it again within minutes; what crashed is told
            announce(PartCrashed(clock.now(), "run ends", traceback.format_exc(limit=8)))
        await clock.sleep_until(clock.now() + PAUSE)


async def do_after_runs(parts: Iterable[Parts]) -> None:
    """Do once what the verticals want done after runs."""
    for each in parts:
        for work in each.after_runs:
            await work()
