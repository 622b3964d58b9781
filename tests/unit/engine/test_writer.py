"""When the writer waits for more to write at once, and when it does not."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from rig.clock import NOON
from tidemill.core.policy import AGENDA
from tidemill.engine.writer import GROUP_WAIT, MAX_GROUP, TRIES_AT_ONCE, WANTED_GROUP, Writer
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.pipeline.checkpoints import Committed
from tidemill.pipeline.ports import StoreBusy, StoreConflict, StoreLost


class Book:
    """A ledger that takes everything, and an announcer that tells nobody."""

    async def commit(self, _batch: Sequence[object], _now: datetime) -> Committed:
        return Committed(frozenset())

    def committed(self, _batch: Sequence[object], _committed: Committed) -> None:
        """Nobody listens."""


def writer_with(waiting: int, clock: VirtualClock) -> Writer:
    book: Any = Book()
    writer = Writer(book, clock, book, {"events": AGENDA})
    for number in range(waiting):
        checkpoint: Any = number
        writer.put(checkpoint)
    return writer


def waited(waiting: int, *, busy: bool, hurried: bool = False) -> timedelta:
    """How long a group waited before it was written."""

    async def main(clock: VirtualClock) -> timedelta:
        writer = writer_with(waiting, clock)
        writing = asyncio.create_task(writer.commit_next(busy=busy))
        if hurried:
            await asyncio.sleep(0)  # noqa: TID251 - gives way: by now the writer waits for company
            writer.flush()
        await writing
        return clock.now() - NOON

    return run_virtual(main, NOON)


def test_a_busy_worker_lets_a_small_group_grow_for_a_moment() -> None:
    assert waited(1, busy=True) == GROUP_WAIT


def test_a_group_of_some_size_waits_for_nobody() -> None:
    assert waited(WANTED_GROUP, busy=True) == timedelta(0)


def test_nobody_waits_for_what_cannot_come() -> None:
    assert waited(1, busy=False) == timedelta(0)
    assert waited(1, busy=True, hurried=True) == timedelta(0)


def test_a_hurry_lasts_for_one_group() -> None:
    async def main(clock: VirtualClock) -> timedelta:
        writer = writer_with(1, clock)
        writer.flush()
        await writer.commit_next(busy=True)
        later: Any = 2
        writer.put(later)
        await writer.commit_next(busy=True)
        return clock.now() - NOON

    assert run_virtual(main, NOON) == GROUP_WAIT


def test_a_hurry_with_nothing_to_write_is_forgotten() -> None:
    async def main(clock: VirtualClock) -> timedelta:
        writer = writer_with(0, clock)
        writer.flush()
        later: Any = 1
        writer.put(later)
        await writer.commit_next(busy=True)
        return clock.now() - NOON

    assert run_virtual(main, NOON) == GROUP_WAIT


def test_what_came_while_others_were_written_goes_together_up_to_a_limit() -> None:
    async def main(clock: VirtualClock) -> list[int]:
        writer = writer_with(MAX_GROUP + 7, clock)
        return [len((await writer.commit_next(busy=False))[0]) for _ in range(2)]

    assert run_virtual(main, NOON) == [MAX_GROUP, 7]


class TroubledBook(Book):
    """A ledger that takes a group only after so many troubles."""

    def __init__(self, *troubles: StoreLost) -> None:
        self._troubles = list(troubles)
        self.tries = 0
        self.told: list[str] = []
        self.written: list[object] = []

    async def commit(self, batch: Sequence[object], _now: datetime) -> Committed:
        self.tries += 1
        if self._troubles:
            raise self._troubles.pop(0)
        self.written += batch
        return Committed(frozenset())

    def store_trouble(self, detail: str) -> None:
        self.told.append(detail)


def outwaited(*troubles: StoreLost) -> tuple[timedelta, TroubledBook]:
    """How long a writer took to write a group through these troubles."""
    book: Any = TroubledBook(*troubles)

    async def main(clock: VirtualClock) -> timedelta:
        writer = Writer(book, clock, book, {"events": AGENDA})
        checkpoint: Any = 1
        writer.put(checkpoint)
        await writer.commit_next(busy=False)
        return clock.now() - NOON

    return run_virtual(main, NOON), book


def test_a_lost_database_is_waited_for_with_growing_pauses_and_the_group_is_kept() -> None:
    took, book = outwaited(*[StoreLost("away")] * 8)
    assert took == timedelta(seconds=1 + 2 + 4 + 8 + 16 + 30 + 30 + 30)
    assert (book.written, book.told) == ([1], ["away"] * 8)


def test_a_busy_database_is_asked_again_soon() -> None:
    took, book = outwaited(*[StoreBusy("full")] * 7)
    assert took == timedelta(seconds=0.25 + 0.5 + 1 + 2 + 4 + 5 + 5)
    assert (book.written, len(book.told)) == ([1], 7)


def test_a_transaction_that_was_undone_is_repeated_at_once_and_without_a_word() -> None:
    took, book = outwaited(*[StoreConflict("deadlock")] * TRIES_AT_ONCE)
    assert took == timedelta(0)
    assert (book.written, book.told, book.tries) == ([1], [], TRIES_AT_ONCE + 1)


def test_one_that_is_undone_again_and_again_is_told_and_waited_with() -> None:
    took, book = outwaited(*[StoreConflict("deadlock")] * (TRIES_AT_ONCE + 1))
    assert took == timedelta(seconds=8)
    assert book.told == ["deadlock"]
