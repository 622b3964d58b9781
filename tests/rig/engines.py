"""The two engines as a person starts them, so that one case can be tried on both."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from rig.processes import Child, Nursery

QUICK = {"dispatch": "every 1s", "rescue": "every 1s", "services": "every 1s"}
"""Rhythms that no test has to wait for."""
PATIENCE = 60
"""Seconds after which a condition that has not come counts as never coming."""


class Cluster:
    """Processes that work on one database."""

    def __init__(self, nursery: Nursery, settings: Path, stack: AsyncExitStack) -> None:
        """None yet."""
        self._nursery = nursery
        self._settings = settings
        self._stack = stack

    async def start(self, *words: str) -> Child:
        """Start one `tidemill` command; it is killed at the end of the test, if it is still there."""
        arguments = ["--settings", str(self._settings), *words]
        return await self._stack.enter_async_context(self._nursery.child("command", arguments=arguments))

    async def start_worker(self, kind: str) -> Child:
        """Start what takes jobs in this kind of engine; the Celery engine's periodic work comes from beat."""
        return await self.start("up", "--no-web") if kind == "embedded" else await self.start("worker")


@asynccontextmanager
async def a_cluster(nursery: Nursery, folder: Path, **settings: Any) -> AsyncIterator[Cluster]:
    """An installation without processes, on these settings."""
    file = folder / "cluster.toml"
    options = {"allow_networks": ["127.0.0.0/8"], "reader_processes": 0, "lease_seconds": 3, **settings}
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    file.write_text("\n".join([*lines, "[ticks]", *(f"{name} = {json.dumps(each)}" for name, each in QUICK.items())]))
    async with AsyncExitStack() as stack:
        yield Cluster(nursery, file, stack)


async def until(holds: Callable[[], Awaitable[bool]], words: str) -> None:
    """Wait for a condition of the database; nothing is notified when it comes, so it is asked for."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await holds():  # noqa: ASYNC110 -- another process writes it
                await asyncio.sleep(0.05)  # noqa: TID251 -- between two questions, not instead of one
    except TimeoutError:
        msg = f"it never came to this: {words}"
        raise AssertionError(msg) from None
