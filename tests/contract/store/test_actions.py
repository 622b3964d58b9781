"""What people can do, on both databases: every deed is audited, every mistake is answered with what to do."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import update

from rig.clock import SettableClock
from rig.scraped import scraped, work_off
from tidemill.bootstrap.system import System
from tidemill.core.views import DeadLetterFilter, JobFilter
from tidemill.operations.exporting.dataset import ExportFormat
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.store.database.database import Database
from tidemill.store.schema import hosts
from tidemill.verticals.events.parts import EventsParts


@pytest.fixture
async def system(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[System]:
    built = await scraped(database, clock, tmp_path / "pages")
    yield built
    await built.close()


async def well_and_ill(system: System) -> tuple[str, str]:
    views = await system.store.views.sources(system.clock.now())
    failed = await system.store.views.runs(status="FAILED")
    return next(one.name for one in views if one.id != failed[0].source_id), failed[0].source_name


async def audited(system: System) -> list[str]:
    return [noted.entry.action for noted in await system.store.audit.latest()]


@pytest.mark.shows("O7")
async def test_a_source_is_run_by_hand(system: System, clock: SettableClock) -> None:
    well, _ = await well_and_ill(system)
    clock.advance(timedelta(hours=1))
    started = await system.actions.runs.start_source(well, "ans")
    assert started.jobs > 0
    assert len(started.run_ids) == 1
    assert (await audited(system))[0] == "run.start"
    busy = await system.actions.runs.start_source(well, "ans")
    assert busy.jobs == 0
    assert "at work already" in busy.notes[0]
    await work_off(system, clock)
    run = await system.store.views.run(started.run_ids[0])
    assert run is not None
    assert (run.run.trigger, run.run.status) == ("MANUAL", "SUCCESS")


async def test_a_source_that_is_off_is_not_run(system: System) -> None:
    well, _ = await well_and_ill(system)
    await system.actions.sources.disable(well, "ans")
    with pytest.raises(Mistake, match=f"tidemill sources enable {well}"):
        await system.actions.runs.start_source(well, "ans")


@pytest.mark.shows("O4")
async def test_stale_jobs_are_taken_up_again_and_go_all_the_way(system: System, clock: SettableClock) -> None:
    well, _ = await well_and_ill(system)
    clock.advance(timedelta(hours=1))
    started = await system.actions.runs.start_source(well, "ans")
    clock.advance(timedelta(days=2))
    await system.ticks.chores["stale_jobs"].run()
    assert len(await system.store.views.jobs(JobFilter(status="stale"))) == started.jobs
    assert "requeue-stale" in (await system.actions.why.explain(f"job:{await first_job(system, 'stale')}")).verdict
    assert await system.actions.runs.requeue_stale(well, "ans") == started.jobs
    assert await system.actions.runs.requeue_stale(None, "ans") == 0
    await work_off(system, clock)
    assert await system.store.views.jobs(JobFilter(status="stale")) == []
    newest = (await system.store.views.runs(limit=1))[0]
    assert (newest.trigger, newest.status, newest.urls_succeeded) == ("RETRY", "SUCCESS", started.jobs)
    assert "jobs.requeue_stale" in await audited(system)


async def first_job(system: System, status: str) -> int:
    return (await system.store.views.jobs(JobFilter(status=status), limit=1))[0].id


@pytest.mark.shows("R2")
async def test_dead_letters_are_retried_and_discarded_singly_and_in_bulk(system: System) -> None:
    _, ill = await well_and_ill(system)
    letters = await system.store.views.dead_letters()
    first, rest = letters[0], letters[1:]
    assert (await system.actions.dead_letters.retry(first.id, "ans")).count == 1
    with pytest.raises(Mistake, match="is being retried"):
        await system.actions.dead_letters.retry(first.id, "ans")
    source = await system.actions.sources.find(ill)
    discarded = await system.actions.dead_letters.discard_all(DeadLetterFilter(source_id=source.id), "ans", "no use")
    assert discarded.count == len(rest)
    for letter in rest:
        with pytest.raises(Mistake, match="was discarded; start a new job"):
            await system.actions.dead_letters.retry(letter.id, "ans")
    with pytest.raises(NotFound, match="there is no dead letter"):
        await system.actions.dead_letters.discard(10**9, "ans")
    assert (await audited(system))[:2] == ["dlq.discard", "dlq.retry"]


async def test_a_letter_of_a_source_that_was_removed_can_only_be_discarded(system: System) -> None:
    _, ill = await well_and_ill(system)
    letters = await system.store.views.dead_letters()
    await system.actions.sources.remove(ill, "ans")
    with pytest.raises(Mistake, match="was removed; discard it"):
        await system.actions.dead_letters.retry(letters[0].id, "ans")
    bulk = await system.actions.dead_letters.retry_all(DeadLetterFilter(), "ans")
    assert (bulk.count, sorted(bulk.orphans)) == (0, sorted(letter.id for letter in letters))
    assert (await system.actions.dead_letters.discard_all(DeadLetterFilter(), "ans")).count == len(letters)


async def test_an_adapter_that_is_switched_off_gets_no_more_work(system: System) -> None:
    well, _ = await well_and_ill(system)
    adapter = (await system.actions.sources.find(well)).adapter_id
    off = await system.actions.adapters.disable(adapter, "ans", "redesign")
    assert (off.enabled, off.disabled_by, off.disabled_reason) == (False, "ans", "redesign")
    started = await system.actions.runs.start_source(well, "ans")
    assert (started.jobs, started.reason) == (0, "adapter_disabled")
    explained = await system.actions.why.explain(f"source:{well}")
    assert "held back by adapter on" in explained.verdict
    assert (await system.actions.adapters.enable(adapter, "ans")).adapter.enabled
    with pytest.raises(NotFound, match="did you mean"):
        await system.actions.adapters.enable(adapter + "x", "ans")


@pytest.mark.shows("R1", "X7")
async def test_a_tripped_breaker_is_explained_and_reset(system: System, clock: SettableClock) -> None:
    _, ill = await well_and_ill(system)
    while not [one for one in await system.store.views.breakers() if one.state == "OPEN"]:
        clock.advance(timedelta(hours=1))
        await system.actions.runs.start_source(ill, "ans")
        await work_off(system, clock)
    assert "held back by breaker" in (await system.actions.why.explain(f"source:{ill}")).verdict
    started = await system.actions.runs.start_source(ill, "ans")
    assert any("breaker is open" in note for note in started.notes)
    reset = await system.actions.breakers.reset(ill, "ans")
    assert (reset.was, reset.host_rests_until) == ("OPEN", None)
    assert await system.actions.breakers.reset_all("ans") == []
    assert "breaker.reset" in await audited(system)
    until = clock.now() + timedelta(hours=1)
    async with system.store.database.write() as connection:
        await connection.execute(update(hosts).values(opens_at=until))
    assert (await system.actions.breakers.reset(ill, "ans")).host_rests_until == until


@pytest.mark.shows("X7", "X11")
async def test_every_field_of_an_event_says_where_it_was_read(system: System) -> None:
    event = (await system.part(EventsParts).store.views.events(limit=1))[0]
    for field in msgspec.json.decode(event.record):
        explained = await system.actions.why.explain(f"event:{event.id}.{field}")
        gates = {step.gate for step in explained.steps}
        assert {"page", "reading", "place", "rule", "sightings"} <= gates
        assert "no longer known" not in " ".join(step.detail for step in explained.steps)
    with pytest.raises(NotFound, match="did you mean 'title'"):
        await system.actions.why.explain(f"event:{event.id}.titel")


@pytest.mark.shows("A5")
async def test_an_export_holds_every_event_once_in_each_format(system: System) -> None:
    events = await system.part(EventsParts).store.views.events(limit=10_000)
    lines = (await exported(system, ExportFormat.JSONL)).splitlines()
    assert [msgspec.json.decode(line)["id"] for line in lines] == [event.id for event in events]
    assert (await exported(system, ExportFormat.CSV)).startswith(b"id,title,")
    rest = await exported(system, ExportFormat.JSONL, after=msgspec.json.decode(lines[0])["cursor"])
    assert rest.splitlines() == lines[1:]
    assert (await system.store.audit.latest())[0].entry.action == "events.export"


async def exported(system: System, form: ExportFormat, after: str | None = None) -> bytes:
    started = await system.actions.exporter.start("events", form, {}, "test", after=after)
    return b"".join([piece async for piece in started.pieces])


@pytest.mark.shows("A3")
async def test_doctor_finds_everything_well(system: System) -> None:
    checks = {check.name: check.level for check in await system.actions.doctor.examine()}
    assert checks["database"] == "ok"
    assert checks["queue"] == "ok"
    assert checks["ticks"] == "ok"


@pytest.mark.parametrize(
    ("subject", "said"),
    [("jazzclub", "write what to explain as {}, not 'jazzclub'"),
     ("markt:nyc", "unknown subject 'markt'; did you mean 'market'?; write {}")],
)  # fmt: skip
async def test_why_tells_every_form_of_a_subject(system: System, subject: str, said: str) -> None:
    forms = "source:NAME, target:ID or target:URL, job:ID, run:ID, event:ID or event:ID.FIELD, "
    forms += "price:ID, product:ID, listing:ID or listing:ID.FIELD, match:ID or match:ID.FIELD, service:NAME, "
    forms += "letter:ID, quarantine:ID, incident:ID, market:ID"
    with pytest.raises(Mistake) as mistake:
        await system.actions.why.explain(subject)
    assert str(mistake.value) == said.format(forms)
