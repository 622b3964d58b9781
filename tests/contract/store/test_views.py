"""What people are shown, on both databases, after the real system has worked in the lab for a while."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rig.clock import SettableClock
from rig.scraped import SITES, scraped
from tidemill.bootstrap.system import System
from tidemill.core.views import (
    DeadLetterFilter,
    JobFilter,
    RejectedFilter,
    TargetFilter,
    TargetView,
)
from tidemill.store.database.database import Database
from tidemill.store.views.views import Views


@pytest.fixture
async def system(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[System]:
    built = await scraped(database, clock, tmp_path / "pages")
    yield built
    await built.close()


@pytest.fixture
def views(system: System) -> Views:
    return system.store.views


async def test_every_source_is_listed_with_its_targets_and_whether_it_may_be_asked(
    views: Views, system: System, clock: SettableClock
) -> None:
    shown = await views.sources(clock.now())
    assert [one.name for one in shown] == sorted(one.name for one in shown)
    assert len(shown) == SITES
    assert all(one.targets == one.targets_on > 0 for one in shown)
    assert all(one.is_available and not one.reason for one in shown if one.failures == 0)
    await system.actions.sources.disable(shown[0].name, "ans")
    again = (await views.sources(clock.now()))[0]
    assert not again.is_available
    assert again.reason == "switched off by a person"


async def test_a_source_is_found_by_name_and_by_key_with_what_surrounds_it(views: Views, clock: SettableClock) -> None:
    first = (await views.sources(clock.now()))[0]
    by_name = await views.source(first.name, clock.now())
    by_key = await views.source(first.id, clock.now())
    assert by_name == by_key
    assert by_name is not None
    assert by_name.view == first
    assert by_name.hosts
    assert sum(by_name.jobs.values()) == first.targets
    assert by_name.runs[0].source_name == first.name
    assert await views.source("nobody", clock.now()) is None
    assert await views.source(10**9, clock.now()) is None


async def test_targets_are_listed_page_by_page_and_by_filter(views: Views, clock: SettableClock) -> None:
    everything = await views.targets(limit=1000)
    paged: list[TargetView] = []
    while page := await views.targets(after=paged[-1].id if paged else 0, limit=2):
        paged += page
    assert paged == everything
    mine = await views.targets(TargetFilter(source_id=everything[0].source_id))
    assert {one.source_id for one in mine} == {everything[0].source_id}
    assert await views.targets(TargetFilter(text="%")) == []
    detail = await views.target(everything[0].id, clock.now())
    assert detail is not None
    assert detail.view == everything[0]
    assert detail.jobs[0].target_id == everything[0].id
    assert detail.host is not None
    assert await views.target(10**9, clock.now()) is None


async def test_runs_are_listed_newest_first_and_go_on_from_a_key(views: Views) -> None:
    everything = await views.runs()
    assert [run.id for run in everything] == sorted((run.id for run in everything), reverse=True)
    assert len(everything) == SITES
    assert await views.runs(before=everything[0].id) == everything[1:]
    assert {run.status for run in await views.runs(status="FAILED")} == {"FAILED"}
    assert all(run.complete is not None for run in everything)


async def test_a_run_shows_its_jobs_stage_by_stage_with_failures_first(views: Views) -> None:
    failed = (await views.runs(status="FAILED"))[0]
    detail = await views.run(failed.id)
    assert detail is not None
    assert sum(count.jobs for count in detail.stages) == len(detail.jobs)
    assert detail.failures == {"forbidden": len(detail.jobs)}
    assert {job.stage for job in detail.jobs} == {"dead_letter"}
    assert await views.run(10**9) is None


async def test_a_job_shows_what_its_page_became(views: Views) -> None:
    done = (await views.jobs(JobFilter(status="done"), limit=1))[0]
    detail = await views.job(done.id)
    assert detail is not None
    assert detail.job == done
    assert detail.reading is not None
    assert detail.reading.page_id == done.page_id
    assert detail.reading.records > 0
    assert detail.letter is None
    dead = (await views.jobs(JobFilter(stage="dead_letter")))[0]
    buried = await views.job(dead.id)
    assert buried is not None
    assert buried.letter is not None
    assert buried.letter.error_type == "forbidden"
    assert await views.job(10**9) is None


async def test_dead_letters_are_listed_by_filter_and_shown_with_their_payload(views: Views) -> None:
    letters = await views.dead_letters(DeadLetterFilter(status="pending"))
    assert letters
    assert await views.dead_letters(DeadLetterFilter(error_type="timeout")) == []
    detail = await views.dead_letter(letters[0].id)
    assert detail is not None
    assert detail.letter == letters[0]
    assert detail.payload["url"] == letters[0].url
    assert await views.dead_letter(10**9) is None


async def test_breakers_show_their_counts(views: Views) -> None:
    shown = await views.breakers()
    ill = [one for one in shown if one.total_failures]
    assert len(ill) == 1
    assert ill[0].total_calls == ill[0].total_failures + ill[0].total_successes


async def test_pages_and_rejected_records_are_listed_newest_first(views: Views) -> None:
    pages = await views.pages()
    assert [page.id for page in pages] == sorted((page.id for page in pages), reverse=True)
    assert await views.pages(target_id=pages[0].target_id, limit=1) == [pages[0]]
    assert await views.pages(source_id=pages[0].source_id, before=pages[0].id, limit=1) != [pages[0]]
    totals = await views.counts()
    rejected = await views.rejected(limit=10_000)
    assert len(rejected) == totals.records["dropped"] + totals.records["quarantined"]
    assert await views.rejected(RejectedFilter(reason="no such reason")) == []
    assert await views.page(10**9) is None


async def test_ticks_workers_and_hosts_are_shown(views: Views) -> None:
    ticks = {tick.name: tick for tick in await views.ticks()}
    assert ticks["dispatch"].status == "ok"
    assert ticks["dispatch"].last_success == ticks["dispatch"].slot
    assert [worker.jobs for worker in await views.workers()] == [0]
    hosts = await views.hosts()
    assert len(hosts) == SITES
    assert await views.hosts([hosts[0].host]) == hosts[:1]
    assert await views.adapters() == []


async def test_the_totals_add_up(views: Views, clock: SettableClock) -> None:
    totals = await views.counts()
    records = totals.records
    assert records["read"] == records["accepted"] + records["dropped"] + records["quarantined"] > 0
    kept = records["inserted"] + records["updated"] + records["unchanged"] + records["repeated"]
    assert records["accepted"] == kept
    events = next(each for each in views.totals.records if each.noun == "events")
    assert totals.of(events) == (records["inserted"], 0)
    assert sum(totals.jobs.values()) == totals.targets == len(await views.targets(limit=1000))
    assert sum(totals.runs.values()) == totals.sources == totals.sources_on == len(await views.sources(clock.now()))
    assert totals.dead_letters == {"pending": totals.jobs["dead"]}
    assert totals.pages == len(await views.pages(limit=1000))
