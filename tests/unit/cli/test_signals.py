"""Ctrl-C once, twice, and not at all."""

import asyncio
import os
import signal

import pytest

from tidemill.cli.signals import Stopper

pytestmark = pytest.mark.shows("R6")


async def test_the_first_signal_lets_the_work_finish() -> None:
    asked = asyncio.Event()
    finished = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asked.wait()
        finished.append(True)

    with Stopper(asked.set) as stopper:
        await stopper.run_until_done(work())
    assert finished == [True]
    assert stopper.signalled


async def test_the_second_signal_stops_work_that_does_not_end() -> None:
    once = asyncio.Event()
    ended = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await once.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with Stopper(once.set) as stopper:
        await stopper.run_until_done(work())
    assert ended == [True]


async def endless() -> None:
    await asyncio.Event().wait()


async def test_work_that_does_not_finish_in_time_is_stopped() -> None:
    with Stopper(lambda: None, limit_seconds=0.01) as stopper:
        stopper.stop()
        await stopper.run_until_done(endless())


async def test_what_goes_wrong_in_the_work_is_not_hidden() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with Stopper(lambda: None) as stopper, pytest.raises(ZeroDivisionError):
        await stopper.run_until_done(work())
