"""What goes to a thread beside the loop is always seen through."""

import asyncio
import threading

import pytest

from tidemill.store.database.inline import run_in_thread


async def test_an_error_is_raised_where_it_is_waited_for() -> None:
    def fail() -> None:
        msg = "the disk refused"
        raise OSError(msg)

    with pytest.raises(OSError, match="the disk refused"):
        await run_in_thread(fail)


async def test_whoever_is_cancelled_waits_for_the_end_however_often() -> None:
    begun, may_end, done = asyncio.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        may_end.wait()
        done.append("whole")

    errand = asyncio.create_task(run_in_thread(work))
    await begun.wait()
    for _ in range(2):
        errand.cancel()
        await asyncio.wait([errand], timeout=0)
        assert not errand.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await errand
    assert done == ["whole"]
