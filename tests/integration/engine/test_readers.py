"""Pages are read in processes that are killed when a page is too hard for them; nobody else notices."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rig.clock import seeded_dice
from rig.reader_child import OBEDIENT_EVENTS
from rig.site import agenda
from tidemill.bootstrap.page_readers.pool import MODULE
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.engine.readers import pool as pool_module
from tidemill.engine.readers.fork_server import ORDER, Note, Order
from tidemill.engine.readers.limits import ReaderLimits
from tidemill.engine.readers.pool import MOST_FAILED_STARTS, ReaderPool
from tidemill.pipeline.page_reading import PageTask, ReadPage, ReadResult, read_page

pytestmark = pytest.mark.shows("P3")

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
VERTICALS = {"events": OBEDIENT_EVENTS}
TIGHT = ReaderLimits(cpu=timedelta(seconds=0.5), wall=timedelta(seconds=5), memory_megabytes=256, output_megabytes=2)


def task(
    word: str = "good", *, adapter: str = "events.obedient", body: str = "", most_records: int = 5_000
) -> PageTask:
    source = Source(id=1, name="agenda", vertical="events", base_url="http://a.example", adapter_id=adapter, city="Ede")
    url = f"http://a.example/{word}"
    page = Page(id=1, url=url, final_url=url, status_code=200, body=body.encode(), charset="utf-8",
                content_type="text/html", digest=1, fetched_at=NOW)  # fmt: skip
    return PageTask("events", adapter, source, {}, page, most_records=most_records)


class Pools:
    """Makes pools, and ends them with the test."""

    def __init__(self) -> None:
        self.made: list[ReaderPool] = []
        self.reports: list[str] = []

    def pool(self, size: int = 1, limits: ReaderLimits = TIGHT, module: str = "rig.reader_child") -> ReaderPool:
        self.made.append(ReaderPool(module, VERTICALS, limits, size, self.reports.append))
        return self.made[-1]


@pytest.fixture
async def pools(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pools]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    made = Pools()
    yield made
    for each in made.made:
        await each.close()


async def read_all(pool: ReaderPool, *tasks: PageTask, started: Callable[[], Any] | None = None) -> list[ReadResult]:
    futures = [asyncio.get_running_loop().create_future() for _ in tasks]
    for each, future in zip(tasks, futures, strict=True):
        pool.submit(each, future.set_result)
    if started is not None:
        started()
    return list(await asyncio.gather(*futures))


def untimed(result: ReadResult) -> ReadResult:
    return replace(result, seconds=0.0) if isinstance(result, ReadPage) else result


def is_read(result: ReadResult) -> bool:
    return isinstance(result, ReadPage) and len(result.verdicts.accepted) == 1


async def test_a_reader_gives_what_reading_inline_gives(pools: Pools) -> None:
    tasks = [
        task("agenda", adapter="events.generic", body=agenda(["Kermis", "Concert", ""])),
        task("nothing", adapter="events.generic", body="<p>niets</p>"),
        task("unknown", adapter="events.unknown"),
        task("bug"),
    ]
    inline = [read_page(each, VERTICALS) for each in tasks]
    read = await read_all(pools.pool(size=2), *tasks)
    assert [untimed(each) for each in read[:3]] == inline[:3]
    assert [(each.failure, each.detail) for each in (read[3], inline[3]) if isinstance(each, Fail)] == [
        (Failure.ADAPTER_CRASHED, "ValueError: half a \ud800 character")
    ] * 2


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("spin", "reading it takes more than 0.5 s of processor time"),
        ("memory", "reading it takes more memory than a page may"),
        ("crash", "3 readers died over it (SIGSEGV)"),
        ("killed", "8 readers died over it (SIGKILL)"),
        ("output", "MB came of reading it, and 2 may"),
    ],
)
async def test_a_page_that_is_too_hard_fails_alone(pools: Pools, word: str, reason: str) -> None:
    pages = [task(f"good?{number}") for number in range(6)]
    first, hard, *good = await read_all(pools.pool(), pages[0], task(word), *pages[1:])
    assert isinstance(hard, Fail)
    assert hard.failure is Failure.PAGE_TOO_HARD
    assert reason in hard.detail
    assert all(map(is_read, [first, *good]))


async def test_a_page_that_only_waits_ends_by_the_clock(pools: Pools) -> None:
    limits = ReaderLimits(cpu=timedelta(seconds=5), wall=timedelta(seconds=0.3))
    hard, good = await read_all(pools.pool(limits=limits), task("sleep"), task())
    assert isinstance(hard, Fail)
    assert (hard.failure, hard.detail) == (Failure.PAGE_TOO_HARD, "reading it takes longer than 0.3 s")
    assert is_read(good)


async def test_a_flood_of_records_is_cut_off_and_counts_as_truncated(pools: Pools) -> None:
    (result,) = await read_all(pools.pool(), task("flood", most_records=20))
    assert isinstance(result, ReadPage)
    assert (result.kept.records, result.kept.truncated, len(result.verdicts.accepted)) == (20, True, 20)


LEFT_BEHIND = """
import os, socket, sys, time
from tidemill.engine.readers.fork_server import run_fork_server
run_fork_server(socket.socket(fileno=int(sys.argv[1])), lambda connection, is_nice: connection.recv(1))
os.waitpid(-1, 0)
"""


async def test_readers_that_end_after_their_worker_are_no_complaint() -> None:
    """Their end was written to a socket that was closed, and one that had just begun was left alive for ever."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = (sys.executable, "-c", LEFT_BEHIND, str(theirs.fileno()))
        process = await asyncio.create_subprocess_exec(
            *command, stderr=asyncio.subprocess.PIPE, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        assert Note(ours.recv(1)) is Note.READY
        reading, work = socket.socketpair()
        with reading, work:
            socket.send_fds(ours, [ORDER.pack(Order.START, 0)], [work.fileno()])
            ours.close()
            async with asyncio.timeout(20):
                _, complaint = await process.communicate()
    assert complaint == b""


async def test_killing_readers_costs_no_page(pools: Pools) -> None:
    """Each kill hits whoever reads at that moment; the page is read again, alone."""
    pool, kills, dice = pools.pool(size=2), 0, seeded_dice(1)
    waiting = asyncio.ensure_future(read_all(pool, *(task(f"good?{number}") for number in range(3_000))))
    while not waiting.done():
        if pids := pool.pids:
            with suppress(ProcessLookupError):
                os.kill(pids[int(dice.random() * len(pids))], signal.SIGKILL)
                kills += 1
        await pause(0.02)
    assert all(map(is_read, await waiting))
    assert kills > 3


async def test_the_fork_server_may_die_too(pools: Pools) -> None:
    pool = pools.pool()
    assert all(map(is_read, await read_all(pool, task())))
    server = parent_of(pool.pids[0])

    def kill() -> None:
        os.kill(server, signal.SIGKILL)

    results = await read_all(pool, *(task(f"good?{number}") for number in range(200)), started=kill)
    assert all(map(is_read, results))
    assert parent_of(pool.pids[0]) != server


async def test_a_stopped_reader_is_replaced(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "FROZEN_AFTER", 0.1)
    pool = pools.pool(limits=ReaderLimits(cpu=timedelta(seconds=0.2), wall=timedelta(seconds=0.2)))
    assert all(map(is_read, await read_all(pool, task())))
    frozen = pool.pids[0]
    results = await read_all(pool, task(), started=lambda: os.kill(frozen, signal.SIGSTOP))
    assert all(map(is_read, results))
    assert frozen not in pool.pids


async def test_a_reader_is_replaced_after_so_many_pages(pools: Pools) -> None:
    pool = pools.pool(limits=ReaderLimits(pages=3))
    seen = set()
    for _ in range(4):
        results = await read_all(pool, *(task(f"good?{number}") for number in range(5)))
        assert all(map(is_read, results))
        seen |= set(pool.pids)
    assert len(seen) > 2


async def test_where_no_reader_can_be_started_pages_are_read_inline_and_it_is_said(pools: Pools) -> None:
    pool = pools.pool(module="rig.no_such_module")
    assert all(map(is_read, await read_all(pool, task(), task())))
    assert len(pools.reports) == MOST_FAILED_STARTS + 1
    assert "inline" in pools.reports[-1]
    assert all(map(is_read, await read_all(pool, task())))


async def test_closing_ends_every_process(pools: Pools) -> None:
    pool = pools.pool(size=2)
    await read_all(pool, *(task(f"good?{number}") for number in range(50)))
    pids = pool.pids
    processes = [*pids, parent_of(pids[0])]
    await pool.close()
    assert [pid for pid in processes if is_running(pid)] == []


async def test_the_readers_of_the_system_load_no_database_and_no_event_loop(pools: Pools) -> None:
    pool = pools.pool(module=MODULE)
    body = agenda(["Kermis"])
    (result,) = await read_all(pool, task("agenda", adapter="events.generic", body=body))
    assert is_read(result)
    mapped = maps_of(pool.pids[0])
    assert "lexbor" in mapped
    assert not [name for name in ("_sqlite3", "asyncpg", "aiohttp", "uvloop", "_ssl") if name in mapped]


async def pause(seconds: float) -> None:
    """Kills come at a pace of their own, whatever is read meanwhile."""
    await asyncio.sleep(seconds)  # noqa: TID251 - see above


def maps_of(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
