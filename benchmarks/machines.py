"""What many workers cost: the same pages through one worker and through three, locks, wake-ups, and workers that wait.

python -m benchmarks.machines            in a few minutes, on PostgreSQL and Redis of its own
python -m benchmarks.machines --quick    a look

On a machine whose processors origin and database share, more workers cannot be faster: what is measured is that they
cost nothing.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.servers import ROOT, corpus

sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from tools.cluster.processes import BIN, ClusterProcess, free_port, wait_until  # noqa: E402

from rig.postgres_binaries import find_programs  # noqa: E402
from rig.redis import find_redis  # noqa: E402
from rig.restartable import RestartableServer  # noqa: E402
from tidemill.bootstrap.migrations import upgrade  # noqa: E402
from tidemill.bootstrap.system import System, build  # noqa: E402
from tidemill.core.run import Trigger  # noqa: E402
from tidemill.settings import load_settings  # noqa: E402
from tidemill.store.database.database import open_database  # noqa: E402

HOSTS = 20
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
UNHURRIED = {"interval_seconds": 0, "burst": 1, "parallel": 100}
IDLE = 100
LOCKED = """SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') AS locked,
    count(*) FILTER (WHERE state = 'active') AS busy
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
DONE = "SELECT count(*) AS n FROM pipeline_jobs WHERE status = 'done'"
AT_WORK = "SELECT count(*) AS n FROM workers WHERE ended_at IS NULL"


def cpu_of(pids: set[int]) -> float:
    """Processor seconds of processes and of those that they have waited for."""
    total = 0
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(word) for word in words[11:15])
    return total / TICKS_A_SECOND


def threads_of(pid: int) -> dict[int, float]:
    """Processor seconds of each thread of a process."""
    found = {}
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        words = stat.read_text().rpartition(")")[2].split()
        found[int(stat.parent.name)] = (int(words[11]) + int(words[12])) / TICKS_A_SECOND
    return found


def family_of(pid: int) -> set[int]:
    """A process and all that came from it."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


class Machines:
    """One database and one broker, and workers as they are wanted."""

    def __init__(self, folder: Path) -> None:
        programs, redis = find_programs(), find_redis()
        if programs is None or redis is None:
            sys.exit("PostgreSQL or Redis is missing")
        (folder / "data").mkdir(parents=True)
        for place in (folder, folder / "data"):
            place.chmod(0o755)
        self.folder = folder
        self.postgres = RestartableServer(programs, folder / "data")
        self.url = self.postgres.url.replace("+asyncpg", "")
        port = free_port()
        self.broker = f"redis://127.0.0.1:{port}/0"
        words = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.redis = ClusterProcess("redis", [redis, *words], folder, {})

    def worker(self, number: int, *, celery: bool) -> ClusterProcess:
        """A worker process of either engine."""
        file = self.folder / "tidemill.toml"
        file.write_text(
            f'database = "{self.url}"\nbroker = "{self.broker}"\nallow_networks = ["127.0.0.0/8"]\n'
            'reader_processes = 0\nlanes = ["http"]\n[ticks]\ndispatch = "every 10m"\n'
        )
        words = ["worker", "--lane", "http"] if celery else ["up", "--role", "worker", "--lane", "http"]
        return ClusterProcess(
            f"worker{number}", [str(BIN / "tidemill"), "--settings", str(file), *words], self.folder, {}
        )

    def system(self, **settings: Any) -> System:
        """A system in this process; its caller closes it."""
        options: dict[str, Any] = {
            "database": self.url,
            "allow_networks": ["127.0.0.0/8"],
            "reader_processes": 0,
            "lanes": ["http"],
        }
        return build(load_settings(**options, **settings), has_chores=False)

    def ask(self, statement: str) -> list[Any]:
        """Ask the database itself."""

        async def asking() -> list[Any]:
            import asyncpg  # noqa: PLC0415 - an extra

            connection = await asyncpg.connect(self.url)
            try:
                return list(await connection.fetch(statement))
            finally:
                await connection.close()

        return asyncio.run(asking())


@contextmanager
def machines() -> Iterator[Machines]:
    """Running servers with an empty installation."""
    with tempfile.TemporaryDirectory(prefix="tidemill-machines-", ignore_cleanup_errors=True) as place:
        made = Machines(Path(place) / "here")
        made.postgres.start()
        made.redis.start()
        try:
            asyncio.run(prepare(made.url))
            yield made
        finally:
            made.redis.kill()
            made.postgres.stop()
            shutil.rmtree(made.folder, ignore_errors=True)


async def prepare(url: str) -> None:
    database = open_database(url)
    try:
        await upgrade(database)
    finally:
        await database.close()


async def enqueue(system: System, origins: list[str], pages: int, name: str) -> None:
    """Put jobs in, one source per host."""
    each = pages // len(origins)
    entries = [
        {"name": f"{name}-{at}", "vertical": "events", "base_url": origin, "adapter": "events.generic",
         "pace": UNHURRIED,
         "targets": [{"url": f"{origin}/bench/{number}", "schedule": "0 6 * * *"} for number in range(each)]}
        for at, origin in enumerate(origins)
    ]  # fmt: skip
    done = await system.actions.importer.source_entries(entries, "bench")
    assert not done.problems, done.problems[:3]
    for at in range(len(origins)):
        source = await system.actions.sources.find(f"{name}-{at}")
        await system.dispatcher.enqueue(await system.store.agenda.of_source(source.id), Trigger.MANUAL)


def pages_through(made: Machines, origins: list[str], pages: int, workers: int, *, celery: bool) -> dict[str, float]:
    """Processor time a page of so many workers, from their start, minus what starting without work costs."""
    name = f"run{free_port()}"
    processes = [made.worker(number, celery=celery) for number in range(workers)]
    for process in processes:
        process.start()
    wait_until(
        lambda: made.ask("SELECT count(*) AS n FROM workers WHERE ended_at IS NULL")[0]["n"] == workers, 90, "workers"
    )

    async def put() -> None:
        system = made.system(broker=made.broker)
        try:
            await enqueue(system, origins, pages, name)
            system.waker.wake(1)
        finally:
            await system.close()

    families = {process.pid: family_of(process.pid) for process in processes}
    before = sum(cpu_of(family) for family in families.values())
    threads = {process.pid: threads_of(process.pid) for process in processes}
    database_before = cpu_of(family_of(postmaster(made)))
    done_before = made.ask(DONE)[0]["n"]
    began = time.monotonic()
    asyncio.run(put())
    locked = busy = 0
    open_jobs = "SELECT count(*) AS n FROM pipeline_jobs WHERE status IN ('ready', 'waiting', 'leased')"
    while made.ask(open_jobs)[0]["n"]:
        for _ in range(10):
            row = made.ask(LOCKED)[0]
            locked, busy = locked + row["locked"], busy + row["busy"]
    seconds = time.monotonic() - began
    spent = sum(cpu_of(family_of(process.pid)) for process in processes) - before
    celerys = 0.0
    if celery:
        for process in processes:
            now = threads_of(process.pid)
            used = sorted((now[each] - threads[process.pid].get(each, 0.0) for each in now), reverse=True)
            celerys += sum(used[1:])  # the busiest thread is the engine's
    database = cpu_of(family_of(postmaster(made))) - database_before
    for process in processes:
        process.stop()
    done = made.ask(DONE)[0]["n"] - done_before
    assert done == pages, f"{done} of {pages} pages were done"
    return {"ms_a_page": 1000 * spent / pages, "seconds": seconds, "locked": locked / max(1, busy), "done": done,
            "celery_share": celerys / spent if spent else 0.0,
            "database_ms_a_page": 1000 * database / pages}  # fmt: skip


def postmaster(made: Machines) -> int:
    """The process of the server itself."""
    return int((made.folder / "data" / "postmaster.pid").read_text().split()[0])


async def wakeups(made: Machines, origins: list[str], rounds: int, *, broker: bool) -> list[float]:
    """Milliseconds from the commit of a job to its claim by another process, by either way."""
    system = made.system(**({"broker": made.broker} if broker else {}))
    found = []
    try:
        for number in range(rounds):
            await enqueue(system, [origins[number % len(origins)]], 1, f"wake{free_port()}")
            committed = system.clock.now()
            system.waker.wake(1)
            while True:
                row = await newest_claim(system)
                if row is not None:
                    break
                await asyncio.sleep(0.005)  # noqa: TID251 - a benchmark
            found.append((row - committed).total_seconds() * 1000)
            await asyncio.sleep(0.3)  # noqa: TID251 - the worker is idle again
    finally:
        await system.close()
    return found


async def newest_claim(system: System) -> Any:
    async with system.store.database.read() as connection:
        statement = "SELECT leased_at FROM pipeline_jobs ORDER BY id DESC LIMIT 1"
        return (await connection.exec_driver_sql(statement)).scalar()


async def idle(made: Machines, workers: int, seconds: float) -> float:
    """The share of a processor that the database takes while so many workers wait, each with its own connections."""
    systems = [made.system(database_connections=3, roles=["worker"]) for _ in range(workers)]
    tasks = [asyncio.create_task(system.supervisor.run()) for system in systems]
    try:
        await asyncio.sleep(20)  # noqa: TID251 - until all have signed in
        before, began = cpu_of(family_of(postmaster(made))), time.monotonic()
        await asyncio.sleep(seconds)  # noqa: TID251 - a benchmark
        return (cpu_of(family_of(postmaster(made))) - before) / (time.monotonic() - began)
    finally:
        for system in systems:
            system.supervisor.stop()
        await asyncio.gather(*tasks)
        for system in systems:
            await system.close()


def told(words: str, value: float, bound: float, unit: str) -> None:
    print(f"{'ok  ' if value <= bound else 'OVER'}  {words}: {value:.2f} {unit} (at most {bound:g})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="pages, wakeups or idle")
    parser.add_argument("--pages", type=int, help="pages of each run, instead of 3,000")
    words = parser.parse_args()
    pages, rounds = (400, 10) if words.quick else (3_000, 40)
    pages = words.pages or pages
    with corpus(HOSTS) as origins, machines() as made:
        if words.only in (None, "pages"):
            pages_through(made, origins, pages, 1, celery=True)  # warms caches of origin and database
            runs: dict[tuple[int, bool], list[dict[str, float]]] = {}
            for _ in range(1 if words.quick else 2):
                for workers, celery in ((1, False), (3, False), (1, True), (3, True)):
                    run = pages_through(made, origins, pages, workers, celery=celery)
                    print(
                        workers,
                        "Celery" if celery else "embedded",
                        {key: round(value, 4) for key, value in run.items()},
                    )
                    runs.setdefault((workers, celery), []).append(run)
            best = {key: min(each["ms_a_page"] for each in found) for key, found in runs.items()}
            for celery in (False, True):
                kind = "Celery" if celery else "the embedded engine"
                told(f"CPU a page of three workers against one, {kind}", best[3, celery] / best[1, celery], 1.15, "x")
            told("time waiting for locks with three workers", 100 * max(run["locked"] for run in runs[3, True]), 3, "%")
            told("Celery's share of a worker's CPU", 100 * min(run["celery_share"] for run in runs[1, True]), 3, "%")
        if words.only in (None, "wakeups"):
            for broker in (True, False):
                process = made.worker(9, celery=broker)
                if not broker:
                    text = (made.folder / "tidemill.toml").read_text()
                    (made.folder / "tidemill.toml").write_text(text.replace(f'broker = "{made.broker}"\n', ""))
                process.start()
                wait_until(lambda: made.ask("SELECT 1 FROM workers WHERE ended_at IS NULL"), 90, "a worker")
                time.sleep(3)  # noqa: TID251 - it listens
                found = asyncio.run(wakeups(made, origins, rounds, broker=broker))
                way = "over Redis" if broker else "through PostgreSQL"
                told(f"wake-up to claim {way}, p50", statistics.median(found), 20, "ms")
                process.stop()
        if words.only in (None, "idle"):
            count, seconds = (20, 20.0) if words.quick else (IDLE, 60.0)
            made.ask("ALTER SYSTEM SET max_connections = 400")
            made.postgres.stop()
            made.postgres.start()
            told(
                f"the database's processor while {count} workers wait",
                100 * asyncio.run(idle(made, count, seconds)),
                5,
                "% of a core",
            )


if __name__ == "__main__":
    main()
