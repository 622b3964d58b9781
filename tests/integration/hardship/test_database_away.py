"""A database that is locked, gone, read-only or full: a clear message, nothing lost, and the work goes on."""

import asyncio
import os
import signal

import pytest
from sqlalchemy import event

from rig.migrated import migrate
from rig.postgres_binaries import find_programs
from rig.restartable import a_restartable_server
from rig.site import a_site, agenda
from rig.works import stages_done, the_works
from tidemill.pipeline.ports import StoreError, StoreLost
from tidemill.store.database.database import open_database
from tidemill.store.schema import dead_letters, jobs, pages, runs
from tidemill.verticals.events.store.tables import events

FAST_TICKS = {"rescue": "every 5s", "dispatch": "every 5s"}
READ_ONLY = "the database cannot be written: check the rights on its file and folder, and the disk"


async def assert_all_done_once(works, tale):
    assert {row["status"] for row in await works.rows(jobs)} == {"done"}
    assert (await works.count(pages), await works.count(events), await works.count(dead_letters)) == (6, 18, 0)
    assert [row["status"] for row in await works.rows(runs)] == ["SUCCESS"]
    assert set(stages_done(tale).values()) == {1}


@pytest.mark.shows("N4")
async def test_a_lock_held_by_another_program_is_waited_for(nursery, site, sqlite_works):
    works = sqlite_works
    await works.source(site)
    orders = {"settings": {"database": works.url, "jobs_in_hand": 8}, "patience_ms": 100}
    async with nursery.child("supervise", **orders, pause_at="fetch committed") as worker:
        await worker.until("paused")
        async with nursery.child("hold lock", file=works.system.store.database.engine.url.database) as other:
            await other.until("holding")
            worker.tell("go on")
            trouble = await worker.until("StoreTrouble")
            assert "locked by another program" in trouble["detail"]
            other.tell("let go")
            await other.until("released")
        await worker.until("RunClosed")
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0
    await assert_all_done_once(works, worker.said)


@pytest.mark.shows("N4", "R3")
async def test_a_postgres_server_that_restarts_is_waited_for(nursery, postgres, site):
    assert postgres.port
    programs = find_programs(os.environ.get("POSTGRES_BIN", ""))  # noqa: TID251 -- as conftest does
    assert programs is not None
    with a_restartable_server(programs) as server:
        migrate(server.url)
        async with the_works(server.url) as works:
            await works.source(site)
        gate = site.hold("/agenda/5")
        async with nursery.child("supervise", settings={"database": server.url, "ticks": FAST_TICKS}) as worker:
            await gate.arrived.wait()
            server.stop()
            gate.opened.set()
            trouble = await worker.until("StoreTrouble")
            assert "the database does not answer" in trouble["detail"]
            server.start()
            await worker.until("RunClosed")
            worker.signal(signal.SIGTERM)
            assert await worker.ended() == 0
        async with the_works(server.url) as works:
            await assert_all_done_once(works, worker.said)


@pytest.mark.shows("N4", "R3")
async def test_a_postgres_that_speaks_german_and_is_away_for_longer_than_a_lease_costs_no_second_fetch(
    nursery, postgres, site, monkeypatch
):
    assert postgres.port
    programs = find_programs(os.environ.get("POSTGRES_BIN", ""))  # noqa: TID251 -- as conftest does
    assert programs is not None
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")  # PostgreSQL's translations need no German locale, but one that is not C
    with a_restartable_server(programs) as server:
        migrate(server.url)
        async with the_works(server.url) as works:
            await works.say("ALTER ROLE CURRENT_USER SET lc_messages = 'C.UTF-8'")
            await works.source(site)
        await says_so_in_german(server.url)
        gate = site.hold("/agenda/5")
        settings = {"database": server.url, "lease_seconds": 3, "ticks": {"rescue": "every 1s", "dispatch": "every 1s"}}
        async with nursery.child("supervise", settings=settings, jobs_in_hand=6) as worker:
            await gate.arrived.wait()
            server.stop()
            gate.opened.set()
            for _ in range(12):  # by then the pauses of its parts have been longer than the lease
                assert "the database does not answer" in (await worker.until("StoreTrouble"))["detail"]
            server.start()
            await worker.until("RunClosed")
            worker.signal(signal.SIGTERM)
            assert await worker.ended() == 0
        async with the_works(server.url) as works:
            await assert_all_done_once(works, worker.said)
    assert {path: site.visits(path) for path in site.paths} == dict.fromkeys(site.paths, 1)
    assert not [said for said in worker.said if said["kind"] == "LeaseLost"]


async def says_so_in_german(url):
    """A server's errors mean what their codes say, whatever it says."""
    database = open_database(url)
    try:
        with pytest.raises(StoreError, match="run `tidemill migrate`") as refused:
            async with database.read() as connection:
                await connection.exec_driver_sql("SELECT * FROM nowhere")
        if "existiert nicht" not in str(refused.value.__cause__):
            pytest.skip("this PostgreSQL was built without its German messages")
        with pytest.raises(StoreLost, match=r"does not answer \(.*Administrators"):
            async with database.read() as connection:
                await connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
    finally:
        await database.close()


async def test_a_read_only_database_says_so(site, sqlite_works):
    await sqlite_works.source(site)
    file = sqlite_works.system.store.database.engine.url.database
    async with the_works(f"sqlite:///file:{file}?mode=ro&uri=true") as works:
        assert await works.count(jobs) == 0
        with pytest.raises(StoreError, match="the database cannot be written: check the rights on its file"):
            await works.system.worker.sign_in()


@pytest.mark.shows("N4")
async def test_a_disk_that_fills_up_stops_nothing_for_good(nursery, migrated_sqlite_url, tmp_path):
    keep, disk = tmp_path / "keep", tmp_path / "disk"
    keep.mkdir()
    disk.mkdir()
    (tmp_path / "tidemill.db").rename(keep / "tidemill.db")
    assert migrated_sqlite_url.endswith("tidemill.db")
    async with a_site() as site:
        for number in range(6):
            titles = [f"Concert {number}-{index}" for index in range(3)]
            site.page(f"/agenda/{number}", agenda(titles) + f"<!-- {number} {'.' * 200_000} -->")
        async with the_works(f"sqlite:///{keep / 'tidemill.db'}") as works:
            await works.source(site)
        small = {"disk": str(disk), "keep": str(keep), "megabytes": 32, "pause_at": "fetch committed"}
        settings = {"database": f"sqlite:///{disk / 'tidemill.db'}"}
        async with nursery.child("supervise on a small disk", settings=settings, **small) as worker:
            first = await worker.until_any("paused", "no disk")
            if first["kind"] == "no disk":
                pytest.skip(f"no file systems of our own here: {first['reason']}")
            worker.tell("fill the disk")
            trouble = await worker.until("StoreTrouble")
            assert trouble["detail"] == "the disk is full; make room, and the work goes on where it stopped"
            worker.tell("make room")
            await worker.until("RunClosed")
            worker.signal(signal.SIGTERM)
            assert await worker.ended() == 0
    async with the_works(f"sqlite:///{keep / 'tidemill.db'}") as works:
        await assert_all_done_once(works, worker.said)


@pytest.mark.shows("N4")
async def test_a_disk_that_turns_read_only_in_mid_run_is_told_of_and_nothing_is_lost_or_doubled(
    nursery, migrated_sqlite_url, tmp_path, site
):
    keep, disk = tmp_path / "keep", tmp_path / "disk"
    keep.mkdir()
    disk.mkdir()
    (tmp_path / "tidemill.db").rename(keep / "tidemill.db")
    assert migrated_sqlite_url.endswith("tidemill.db")
    async with the_works(f"sqlite:///{keep / 'tidemill.db'}") as works:
        await works.source(site)
    orders = {"disk": str(disk), "keep": str(keep), "megabytes": 32}
    settings = {"database": f"sqlite:///{disk / 'tidemill.db'}"}
    async with nursery.child("supervise on a disk turned read-only", settings=settings, **orders) as worker:
        refused = await worker.until_any("refused", "no disk")
        if refused["kind"] == "no disk":
            pytest.skip(f"no file systems of our own here: {refused['reason']}")
        assert refused["detail"] == READ_ONLY
        worker.tell("mount it for writing again")
        await worker.until("RunClosed")
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0
    async with the_works(f"sqlite:///{keep / 'tidemill.db'}") as works:
        await assert_all_done_once(works, worker.said)


@pytest.mark.shows("N4")
async def test_a_disk_that_refuses_writes_in_mid_run_is_told_of_and_waited_for(nursery, site, sqlite_works):
    works = sqlite_works
    await works.source(site)
    settings = {"database": works.url}
    async with nursery.child("supervise with refused writes", settings=settings, pause_at="fetch committed") as worker:
        await worker.until("paused")
        worker.tell("refuse")
        trouble = await worker.until("StoreTrouble")
        assert trouble["detail"] == "the disk refused a write; check it and the free space"
        worker.tell("allow")
        await worker.until("RunClosed")
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0
    await assert_all_done_once(works, worker.said)


@pytest.mark.shows("N4")
async def test_a_database_that_turns_read_only_in_mid_run_is_told_of_and_waited_for(nursery, site, sqlite_works):
    works = sqlite_works
    await works.source(site)
    settings = {"database": f"sqlite:///{works.system.store.database.engine.url.database}"}
    async with nursery.child("supervise without a pen", settings=settings, pause_at="fetch committed") as worker:
        await worker.until("paused")
        worker.tell("let no one write")
        trouble = await worker.until("StoreTrouble")
        assert trouble["detail"] == READ_ONLY
        worker.tell("let them write again")
        await worker.until("RunClosed")
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0
    await assert_all_done_once(works, worker.said)


async def test_a_write_that_is_given_up_while_it_waits_for_a_lock_leaves_no_lock_behind(nursery, sqlite_works):
    works = sqlite_works
    database = works.system.store.database
    async with nursery.child("hold lock", file=database.engine.url.database) as other:
        await other.until("holding")
        waits = waits_of(database)
        writing = asyncio.create_task(works.say("DELETE FROM audit_log"))
        await waits.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        other.tell("let go")
        await other.until("released")
    async with nursery.child("hold lock", file=database.engine.url.database) as other:
        await other.until("holding")
    await works.say("DELETE FROM audit_log")


def waits_of(database):
    """An event that is set once a write has begun to wait for a lock."""
    waits, loop = asyncio.Event(), asyncio.get_running_loop()

    def trace(statement):
        if statement.startswith("PRAGMA busy_timeout"):
            loop.call_soon_threadsafe(waits.set)

    @event.listens_for(database.engine.sync_engine, "checkout")
    def _checkout(connection, *_):
        connection.set_trace_callback(trace)

    return waits
