"""Coroutines and generators of other people's code, run to their end on a loop that never waits.

An adapter reads a page that is there already, so nothing in it has to wait; what does wait is refused. The loop is a
private one, because reading may happen inside a worker's own loop.
"""

import asyncio
import selectors
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import isasyncgen, isawaitable
from typing import Any

MOST_COLLECTED = 50_000
"""Things that are taken from an asynchronous generator: more than any page has, for one that never ends."""


class MustWait(Exception):
    """The code waits for something outside the page, which an adapter never does."""

    def __init__(self) -> None:
        """Say what to do instead."""
        super().__init__("it waits for something outside its page, such as a request; read what the page itself says")


class _NeverWaits(selectors.SelectSelector):
    """A selector that refuses to wait: with nothing ready, the code waits for something outside."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now."""
        if timeout is None or timeout > 0:
            raise MustWait
        return super().select(0)


def run_to_end(answer: Any) -> Any:
    """Return what an awaitable comes to; what is no awaitable is returned as it is."""
    return _finished(answer) if isawaitable(answer) else answer


def _finished(awaitable: Awaitable[Any]) -> Any:
    """Return what it comes to, from a thread of its own: a loop does not run inside another."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_finished_here, awaitable).result()


def _finished_here(awaitable: Awaitable[Any]) -> Any:
    loop = asyncio.SelectorEventLoop(_NeverWaits())
    try:
        return loop.run_until_complete(_awaited(awaitable))
    finally:
        _close(loop)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Close the loop with whatever still waits on it."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


def run_through(answer: Any) -> Iterator[Any]:
    """Walk over what a callback returns: nothing, one thing, or several from a list or generator of either kind."""
    answer = run_to_end(answer)
    if isasyncgen(answer):
        yield from run_to_end(_collected(answer))
    elif isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__iter__"):
        if answer is not None:
            yield answer
    else:
        yield from answer


async def _collected(several: AsyncIterator[Any]) -> list[Any]:
    found: list[Any] = []
    async for each in several:
        found.append(each)
        if len(found) == MOST_COLLECTED:
            break
    return found
