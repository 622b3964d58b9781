"""The bare script: aiohttp, Lexbor, one `executemany` per batch, and no resilience whatever."""

import asyncio
from collections.abc import Iterator

import aiohttp
import uvloop

from benchmarks.plain_reading import events_on
from benchmarks.plain_store import SqliteStore, page_row
from benchmarks.results import found_in_plain_sqlite
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.engine.interpreter import tune_interpreter

CONNECTIONS = 64


async def work(session: aiohttp.ClientSession, urls: Iterator[str], store: SqliteStore) -> None:
    for url in urls:
        async with session.get(url) as response:
            body = await response.read()
            store.add(page_row(url, response.status, body), events_on(body, url))


async def run(task: Task) -> Figures:
    store, urls, watch = SqliteStore(task.sqlite_file), task.urls(), Stopwatch()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        watch.start()
        await asyncio.gather(*(work(session, urls, store) for _ in range(CONNECTIONS)))
        store.flush()
        watch.stop()
    store.close()
    return Figures(
        watch.seconds,
        watch.cpu_seconds,
        peak_megabytes(),
        found_in_plain_sqlite(task.sqlite_file),
        watch.waited_seconds,
    )


if __name__ == "__main__":
    tune_interpreter()  # as ours
    answer(uvloop.run(run(task_from_command_line())))
