"""What a forked process does: the real system, told by its orders where to die and when to begin."""

import asyncio
import json
import os
import resource
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg  # noqa: F401 -- so that a fork finds it imported
import msgspec
from sqlalchemy import Pool, event

from rig.clock import LaterClock
from rig.small_disk import mount_small_disk, remount
from tidemill.bootstrap import system as bootstrap
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.cli.app import run as command_line
from tidemill.cli.commands import up  # noqa: F401 -- so that a fork finds it imported
from tidemill.cli.signals import Stopper
from tidemill.core.page import Page
from tidemill.core.record import RawRecord, Reading
from tidemill.core.verdict import Verdict
from tidemill.core.vertical import Adapter, Context, Vertical
from tidemill.pipeline.happenings import Happening
from tidemill.pipeline.ports import StoreError
from tidemill.settings import load_settings
from tidemill.store.database import inline
from tidemill.store.database.postgres import PostgresConnection
from tidemill.verticals.events.definition import EVENTS

Orders = dict[str, Any]
PATIENT_SECONDS = 60


class Voice:
    """How a process talks with its test: a line of JSON for each thing it says, a word for each thing it hears."""

    def __init__(self, hears: int, says: int) -> None:
        """Talk over two pipes."""
        self.pipes = (hears, says)
        self._hears = hears
        self._says = says

    def say(self, kind: str, **facts: Any) -> None:
        """Say one thing; it is in the pipe when this returns, even if the process dies at once."""
        line = json.dumps({"kind": kind, **facts}).encode() + b"\n"
        while line:
            line = line[os.write(self._says, line) :]

    def announce(self, happening: Happening) -> None:
        """Say what the system announces."""
        self.say(type(happening).__name__, **{**msgspec.to_builtins(happening), "type": None})

    async def hear(self) -> str:
        """The next word from the test; others go on meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(None, self.listen)

    def listen(self) -> str:
        """The next word from the test; nothing goes on meanwhile."""
        word = b""
        while not word.endswith(b"\n"):
            word += os.read(self._hears, 1)
        return word.decode().strip()


class Fate:
    """Where the process dies or stands still, if it must."""

    def __init__(self, orders: Orders, voice: Voice) -> None:
        """It dies at the `die_count`-th time that it comes to `die_at`; at `pause_at` it waits for a word, once."""
        self._dies_at = orders.get("die_at", "")
        self._lives = orders.get("die_count", 1)
        self._pauses_at = orders.get("pause_at", "")
        self._at_pause: Callable[[], None] = orders.get("at_pause", lambda: None)
        self._voice = voice

    def at(self, point: str) -> None:
        """The process has come to a point."""
        if point == self._pauses_at:
            self._pauses_at = ""
            self._voice.say("paused")
            self._voice.listen()
            self._at_pause()
        if point == self._dies_at:
            self._lives -= 1
            if self._lives == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class WatchedAdapter:
    """An adapter that tells of every page it reads."""

    def __init__(self, adapter: Adapter, voice: Voice, fate: Fate) -> None:
        """Read as `adapter` does."""
        self.id, self.version = adapter.id, adapter.version
        self.domain, self.needs_browser = adapter.domain, adapter.needs_browser
        self._adapter, self._voice, self._fate = adapter, voice, fate

    def read(self, page: Page, context: Context) -> Reading:
        """Read, having said so."""
        self._voice.say("read", url=page.url)
        self._fate.at("read")
        return self._adapter.read(page, context)


def watched(voice: Voice, fate: Fate) -> Vertical:
    """The events vertical, telling of every page it reads and every record it judges."""

    def judge(raw: RawRecord, context: Context) -> Verdict:
        voice.say("judge", title=raw.fields.get("title"), url=context.page_url)
        fate.at("judge")
        return EVENTS.judge(raw, context)

    adapters = {key: WatchedAdapter(each, voice, fate) for key, each in EVENTS.adapters.items()}
    return replace(EVENTS, adapters=adapters, judge=judge)


WATCHED_TABLES = {
    "INSERT INTO raw_pages ": "fetch",
    "INSERT INTO raw_records ": "parse",
    "INSERT INTO staged_records ": "normalize",
    "INSERT INTO events ": "persist",
    "UPDATE pipeline_jobs SET status": "claim",
    "UPDATE scrape_runs SET status": "close",
}


def meet_statement(statement: str, info: dict[Any, Any], fate: Fate) -> None:
    """Tell fate of a stage's first write in its transaction, and of its commit."""
    if statement == "COMMIT" and "writes" in info:
        fate.at(f"{info['writes']} commit")
    for words, stage in WATCHED_TABLES.items():
        if words in statement and info.get("writes") != stage:
            info["writes"] = stage
            fate.at(f"{stage} write")


def watch_hot_statements(fate: Fate) -> None:
    """Give fate its points in what goes to PostgreSQL's driver without passing by SQLAlchemy."""
    run, copy = PostgresConnection.run, PostgresConnection.copy

    async def watched_run(self: PostgresConnection, statement: str, parameters: Sequence[Any]) -> int:
        meet_statement(statement, self.sync_connection.info, fate)
        return await run(self, statement, parameters)

    async def watched_copy(self: PostgresConnection, table: str, names: Sequence[str], rows: Sequence[Any]) -> None:
        meet_statement(f"INSERT INTO {table} ", self.sync_connection.info, fate)
        await copy(self, table, names, rows)

    watched: Any = PostgresConnection
    watched.run, watched.copy = watched_run, watched_copy


def watch_database(system: bootstrap.System, fate: Fate) -> None:
    """Give fate its points in the database: in a stage's transaction, at its commit, and right after it."""
    engine = system.store.database.engine.sync_engine

    @event.listens_for(engine, "before_cursor_execute")
    def _execute(connection: Any, _cursor: object, statement: str, *_: object) -> None:
        meet_statement(statement, connection.info, fate)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, record: Any) -> None:
        if system.store.database.is_sqlite:  # whose driver tells of statements that do not pass by SQLAlchemy
            connection.set_trace_callback(lambda statement: meet_statement(statement, record.info, fate))

    if not system.store.database.is_sqlite:
        watch_hot_statements(fate)

    @event.listens_for(engine, "commit")
    def _commit(connection: Any) -> None:
        if not system.store.database.is_sqlite:  # where SQLAlchemy knows only half of what belongs to a commit
            meet_statement("COMMIT", connection.info, fate)

    @event.listens_for(engine.pool, "checkin")
    def _checkin(_connection: object, record: Any) -> None:
        if stage := record.info.pop("writes", None):
            fate.at(f"{stage} committed")


def build(orders: Orders, voice: Voice) -> bootstrap.System:
    """The real system on the orders' settings, with its vertical and its database watched."""
    fate = Fate(orders, voice)
    inline.PATIENCE_MILLISECONDS = orders.get("patience_ms", inline.PATIENCE_MILLISECONDS)
    VERTICALS["events"] = watched(voice, fate)
    settings = load_settings(
        **{"allow_networks": ["127.0.0.0/8"], "jobs_in_hand": 2, "reader_processes": 0, **orders["settings"]}
    )
    clock = LaterClock(timedelta(seconds=orders.get("ahead_seconds", 0)))
    system = bootstrap.build(settings, announce=Listeners(voice.announce), clock=clock)
    watch_database(system, fate)
    return system


async def drain(orders: Orders, voice: Voice) -> None:
    """Sign in, carry everything through, sign off."""
    system = build(orders, voice)
    await system.worker.sign_in()
    for chore in orders.get("first", ()):
        await system.ticks.tick(chore)
    await system.make_drain().run("http")
    for chore in orders.get("last", ()):
        await system.ticks.tick(chore)
    voice.say("handed back", jobs=await system.worker.sign_off())
    await system.close()


async def drain_measured(orders: Orders, voice: Voice) -> None:
    """Drain, and say by how many kilobytes the process grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await drain(orders, voice)
    voice.say("grew", kilobytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


async def dispatch(orders: Orders, voice: Voice) -> None:
    """Dispatch once per word heard, until told to stop."""
    system = build(orders, voice)
    await system.worker.sign_in()
    voice.say("ready")
    while (word := await voice.hear()) != "stop":
        try:
            done = await system.dispatcher.dispatch() if word == "dispatch" else await system.ticks.tick(word)
            voice.say("dispatched", answer=msgspec.to_builtins(done))
        except StoreError as trouble:
            voice.say("dispatched", trouble=str(trouble))
    await system.close()


async def supervise(orders: Orders, voice: Voice) -> None:
    """Run as `up` does, but watched."""
    system = build(orders, voice)
    try:
        with Stopper(system.supervisor.stop) as stopper:
            await stopper.run_until_done(system.supervisor.run())
    finally:
        await system.close()


async def hold_lock(orders: Orders, voice: Voice) -> None:
    """Another program at work in the same SQLite file, until a word is heard."""
    connection = sqlite3.connect(orders["file"], isolation_level=None, timeout=PATIENT_SECONDS)
    connection.execute("BEGIN EXCLUSIVE")
    voice.say("holding")
    voice.listen()
    connection.execute("ROLLBACK")
    connection.close()
    voice.say("released")


def has_small_disk(orders: Orders, voice: Voice) -> bool:
    """Mount a disk of a few megabytes and lay what is kept on it, or say why that cannot be."""
    try:
        mount_small_disk(Path(orders["disk"]), orders["megabytes"])
    except OSError as error:
        voice.say("no disk", reason=str(error))
        return False
    shutil.copytree(orders["keep"], orders["disk"], dirs_exist_ok=True)
    return True


async def supervise_on_a_small_disk(orders: Orders, voice: Voice) -> None:
    """Run on a disk of a few megabytes that is filled at one word and given room at the next."""
    disk, keep = Path(orders["disk"]), Path(orders["keep"])
    if not has_small_disk(orders, voice):
        return
    ballast = disk / "ballast"
    rooms: list[asyncio.Future[None]] = []

    def fill_up() -> None:
        fill(ballast)
        rooms.append(asyncio.ensure_future(make_room(voice, ballast)))

    await supervise({**orders, "at_pause": fill_up}, voice)
    await asyncio.gather(*rooms)
    shutil.copytree(disk, keep, dirs_exist_ok=True)


async def supervise_on_a_disk_turned_read_only(orders: Orders, voice: Voice) -> None:
    """Die in the middle of the work, start again on a disk that is read-only by then, and again once it is not.

    Linux makes no disk read-only while a file on it is open for writing: only the death of its writer allows it.
    """
    disk, keep = Path(orders["disk"]), Path(orders["keep"])
    if not has_small_disk(orders, voice):
        return
    in_a_fork({**orders, "job": "supervise", "die_at": "fetch committed"}, voice)
    remount(disk, read_only=True)
    in_a_fork({**orders, "job": "supervise if it can"}, voice)
    await voice.hear()
    remount(disk, read_only=False)
    await supervise({**orders, "ahead_seconds": 100}, voice)  # by then the dead one's silence is long enough
    shutil.copytree(disk, keep, dirs_exist_ok=True)


def in_a_fork(orders: Orders, voice: Voice) -> None:
    """Do something in a process of its own, with the same voice, and wait for its end."""
    child = os.fork()
    if not child:
        os._exit(live(orders, *voice.pipes))
    os.waitpid(child, 0)


async def supervise_if_it_can(orders: Orders, voice: Voice) -> None:
    """Run, or say why not."""
    try:
        await supervise(orders, voice)
    except StoreError as trouble:
        voice.say("refused", detail=str(trouble))


async def supervise_with_refused_writes(orders: Orders, voice: Voice) -> None:
    """Run while Linux refuses every write to a file that is open already, from one word to the next."""
    limits: list[asyncio.Future[None]] = []
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    def refuse() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, unlimited[1]))
        limits.append(asyncio.ensure_future(allow()))

    async def allow() -> None:
        await voice.hear()
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)

    await supervise({**orders, "at_pause": refuse}, voice)
    await asyncio.gather(*limits)


async def supervise_without_a_pen(orders: Orders, voice: Voice) -> None:
    """Run on a database that refuses all writes from one word on, as on a disk gone read-only, until the next."""
    refusals: list[asyncio.Future[str]] = []

    @event.listens_for(Pool, "checkout")
    def _checkout(connection: Any, *_: object) -> None:
        connection.execute(f"PRAGMA query_only={int(any(not each.done() for each in refusals))}")

    def refuse() -> None:
        refusals.append(asyncio.ensure_future(voice.hear()))

    await supervise({**orders, "at_pause": refuse}, voice)


def fill(file: Path) -> None:
    """Leave no room on the disk."""
    piece = b"\xaa" * 4_096
    with suppress(OSError), file.open("wb", buffering=0) as full:
        while full.write(piece) == len(piece):
            pass


async def make_room(voice: Voice, ballast: Path) -> None:
    """Wait for a word, and give the room back."""
    await voice.hear()
    await asyncio.get_running_loop().run_in_executor(None, ballast.unlink)


JOBS: dict[str, Callable[[Orders, Voice], Awaitable[None]]] = {
    "drain": drain,
    "drain measured": drain_measured,
    "dispatch": dispatch,
    "supervise": supervise,
    "supervise on a small disk": supervise_on_a_small_disk,
    "supervise if it can": supervise_if_it_can,
    "supervise on a disk turned read-only": supervise_on_a_disk_turned_read_only,
    "supervise with refused writes": supervise_with_refused_writes,
    "supervise without a pen": supervise_without_a_pen,
    "hold lock": hold_lock,
}


def live(orders: Orders, hears: int, says: int) -> int:
    """Do what was ordered; answers the exit code."""
    voice = Voice(hears, says)
    for standard in (sys.stdout, sys.stderr):
        os.dup2(says, standard.fileno())
    try:
        if orders["job"] == "command":
            return command_line(orders["arguments"])
        asyncio.run(JOBS[orders["job"]](orders, voice))  # type: ignore[arg-type]
    except BaseException:  # noqa: BLE001 -- a fork must never return into the zygote
        voice.say("crash", stack=traceback.format_exc())
        return 1
    sys.stdout.flush()
    return 0
