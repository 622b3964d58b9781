"""Two commands: everything into a folder, and the folder back on another machine, where the work goes on."""

import asyncio

import pytest

from rig.postgres_binaries import find_programs
from rig.works import the_works
from tidemill.cli.app import run
from tidemill.store.database.migrate import newest
from tidemill.store.schema import jobs, pages, runs
from tidemill.store.snapshots.epochs import Epochs
from tidemill.verticals.events.store.tables import events


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request):
    return request.param


@pytest.fixture
def here(request, kind):
    return request.getfixturevalue(f"migrated_{kind}_url")


@pytest.fixture
def elsewhere(kind, request, tmp_path):
    if kind == "sqlite":
        (tmp_path / "elsewhere").mkdir()
        return f"sqlite:///{tmp_path / 'elsewhere' / 'tidemill.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def programs(kind, do_without):
    if kind == "sqlite":
        return []
    folder = find_programs()
    if folder is None or not (folder / "pg_dump").exists():
        do_without("no pg_dump here: install PostgreSQL's client programs")
    return ["--programs", str(folder)]


async def drain(works):
    await works.system.worker.sign_in()
    await works.system.make_drain().run("http")
    await works.system.worker.sign_off()


async def command(*words):
    return await asyncio.to_thread(run, [str(word) for word in words])


@pytest.mark.shows("D2")
async def test_a_restored_backup_works_on_loses_nothing_and_tells_readers_to_begin_anew(
    here, elsewhere, programs, site, tmp_path
):
    folder = tmp_path / "backup"
    async with the_works(here) as works:
        await works.enqueue(await works.source(site))
        await drain(works)
        before = await Epochs(works.system.store.database, works.system.clock).open()
        assert await command("--database", here, "backup", folder, *programs) == 0
    assert await command("--database", elsewhere, "restore", folder, *programs) == 0
    async with the_works(elsewhere) as works:
        assert await works.count(events) == 18
        after = await Epochs(works.system.store.database, works.system.clock).open()
        assert after.epoch != before.epoch
        page = (await works.rows(pages))[0]
        assert (await works.system.store.ledger.materials.page(page["id"])).body
        source = await works.system.actions.sources.find("agenda")
        await works.enqueue(source.id)
        await drain(works)
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
        assert await works.count(events) == 18


@pytest.mark.shows("D2", "X6")
async def test_a_run_that_the_backup_cut_short_ends_elsewhere_and_takes_nothing_away(
    here, elsewhere, programs, site, tmp_path
):
    folder = tmp_path / "backup"
    async with the_works(here, lease_seconds=3) as works:
        source = await works.source(site)
        await works.enqueue(source)
        await drain(works)
        assert await works.count(events) == 18
        await works.enqueue(source)
        gate = site.hold("/agenda/3")
        working = asyncio.create_task(drain(works))
        await gate.arrived.wait()
        assert await works.count(jobs, status="leased") > 0
        assert await command("--database", here, "backup", folder, *programs) == 0
        gate.opened.set()
        await working
    assert await command("--database", elsewhere, "restore", folder, *programs) == 0
    async with the_works(elsewhere, lease_seconds=3) as works:
        assert await works.count(jobs, status="leased") > 0
        clock = works.system.clock
        await works.system.store.workers.rescue(clock.now() + works.system.store.workers.lease)
        await drain(works)
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
        ended = await works.rows(runs)
        assert [row["records_removed"] for row in ended] == [0, 0]
        assert [row["gone_at"] for row in await works.rows(events)] == [None] * 18


async def test_a_backup_goes_to_no_folder_that_holds_something(migrated_sqlite_url, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    assert await command("--database", migrated_sqlite_url, "backup", tmp_path / "full") == 1
    assert "is not empty" in capsys.readouterr().err


async def test_nothing_is_restored_over_what_is_there(here, programs, tmp_path, capsys):
    assert await command("--database", here, "backup", tmp_path / "backup", *programs) == 0
    assert await command("--database", here, "restore", tmp_path / "backup", *programs) == 1
    assert "exists" in (said := capsys.readouterr().err) or "already" in said


async def test_half_a_backup_is_none(migrated_sqlite_url, tmp_path, capsys):
    folder = tmp_path / "backup"
    assert await command("--database", migrated_sqlite_url, "backup", folder) == 0
    (folder / "backup.json").unlink()
    assert await command("--database", f"sqlite:///{tmp_path / 'new.db'}", "restore", folder) == 1
    assert "no finished backup" in capsys.readouterr().err


async def test_migrate_check_names_what_is_missing_and_changes_nothing(migrated_url, capsys):
    assert await command("--database", migrated_url, "migrate", "--check") == 0
    async with the_works(migrated_url) as works:
        await works.say("UPDATE alembic_version SET version_num = '0020'")
    for _ in range(2):
        assert await command("--database", migrated_url, "migrate", "--check") == 1
        assert "missing step 0021" in capsys.readouterr().out


@pytest.mark.shows("D2")
async def test_a_program_of_the_version_before_works_on_tables_that_are_ahead(migrated_url, capsys):
    ahead = f"{int(newest()) + 1:04}"
    async with the_works(migrated_url) as works:
        await works.say(f"UPDATE alembic_version SET version_num = '{ahead}'")  # noqa: S608 - a number of ours
    assert await command("--database", migrated_url, "sources", "list") == 0
    async with the_works(migrated_url) as works:
        await works.say("DELETE FROM engine_state WHERE name = 'tables_work_with'")
    capsys.readouterr()
    assert await command("--database", migrated_url, "sources", "list") == 1
    assert "this version needs" in capsys.readouterr().err
