"""What paid services cost, which actor runs are under way, and what is suggested: on both databases."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from rig.mill import Mill
from rig.rows import a_page, keep_pages
from tidemill.core.outcome import Advance, Snooze, Stage
from tidemill.core.pacing import Pace
from tidemill.core.services.actor_run import StartedRun
from tidemill.core.services.budget import Budget, BudgetRefusal, Spent
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind
from tidemill.core.target import STORED, Target
from tidemill.pipeline.checkpoints import ServedFromStore
from tidemill.pipeline.ports import FetchResult, FetchStatus, StoredPage
from tidemill.store.database.database import open_database
from tidemill.store.pages.stored_pages import StoredPageRepository
from tidemill.store.schema import audit_log, jobs, pages, runs, sources, targets
from tidemill.store.services.actor_runs import ActorRunRepository
from tidemill.store.services.spending import SpendingRepository
from tidemill.store.sources.upgrades import UpgradeRepository

BEE = Service.SCRAPINGBEE


@pytest.fixture
async def mill(database, clock):
    made = Mill(database, clock)
    await made.ids.reserve(1_000)
    yield made
    await made.bodies.close()


async def test_what_is_reserved_is_spent_until_it_is_settled(database):
    purse = SpendingRepository(database)
    assert await purse.reserve(BEE, 25, Budget(), NOON) is None
    await purse.settle(BEE, 25, 10, NOON)
    assert await purse.spent(BEE, NOON) == Spent(10, 10, 10)
    assert await purse.spent(Service.APIFY, NOON) == Spent()


async def test_hours_days_and_months_are_counted_apart(database):
    purse = SpendingRepository(database)
    for ago in (timedelta(0), timedelta(hours=2), timedelta(days=1), timedelta(days=20)):
        await purse.reserve(BEE, 10, Budget(), NOON - ago)
    assert await purse.spent(BEE, NOON) == Spent(hour=10, day=20, month=30)


@pytest.mark.shows("F2")
@pytest.mark.parametrize(
    ("budget", "period", "until"),
    [
        (Budget(hour=10, day=100), "hour", NOON + timedelta(hours=1)),
        (Budget(hour=10, day=10), "day", NOON.replace(hour=0) + timedelta(days=1)),
        (Budget(month=10), "month", NOON.replace(month=4, day=1, hour=0)),
    ],
)
async def test_a_limit_refuses_and_says_until_when(database, budget, period, until):
    purse = SpendingRepository(database)
    assert await purse.reserve(BEE, 8, budget, NOON) is None
    assert await purse.reserve(BEE, 3, budget, NOON) == BudgetRefusal(period, 10, until)
    assert await purse.spent(BEE, NOON) == Spent(8, 8, 8), "what was refused is not spent"
    assert await purse.reserve(BEE, 3, budget, until) is None


@pytest.mark.shows("F2")
async def test_processes_that_pay_at_once_never_overspend_together(database, migrated_url_of):
    others = [open_database(migrated_url_of) for _ in range(4)]
    try:
        answers = await asyncio.gather(
            *(SpendingRepository(each).reserve(BEE, 1, Budget(hour=10), NOON) for each in others for _ in range(5))
        )
    finally:
        for each in others:
            await each.close()
    assert answers.count(None) == 10
    assert await SpendingRepository(database).spent(BEE, NOON) == Spent(10, 10, 10)


@pytest.fixture
def migrated_url_of(database):
    return database.engine.url.render_as_string(hide_password=False)


def a_run(job_id, **other):
    return StartedRun(
        job_id=job_id, actor="lab/homes", run_id=f"run{job_id}", dataset_id=f"set{job_id}", timeout_seconds=600,
        reserved=500, started_at=NOON, **other,
    )  # fmt: skip


async def test_a_run_is_found_by_its_job_until_it_has_ended(database):
    book = ActorRunRepository(database)
    assert await book.of_job(7) is None
    await book.began(a_run(7))
    assert await book.of_job(7) == a_run(7)
    await book.ended(7, "SUCCEEDED", NOON)
    assert await book.of_job(7) is None
    await book.began(msgspec.structs.replace(a_run(7), run_id="again"))
    assert (await book.of_job(7)).run_id == "again"


async def test_a_run_whose_job_has_ended_is_an_orphan(mill, database):
    source = await mill.source(pages=2)
    await mill.enqueue(source)
    done, _ = await mill.claim(await mill.worker())
    book = ActorRunRepository(database)
    for job in await mill.rows(jobs):
        await book.began(a_run(job["id"]))
    assert await book.orphans() == []
    await mill.carry(done)
    assert [each.job_id for each in await book.orphans()] == [done.job.id]


@pytest.mark.shows("F4")
async def test_only_the_page_that_was_read_to_the_end_may_serve(database, bodies):
    old, new = b"<p>agenda</p>", b"<p>blocked?</p>"
    rows = [
        a_page(1, old, NOON - timedelta(hours=30), content_hash=11),
        a_page(2, old, NOON - timedelta(hours=20), content_hash=11),
        a_page(3, new, NOON - timedelta(hours=1), content_hash=12),
        a_page(4, old, NOON - timedelta(hours=1), content_hash=11, failure="forbidden"),
    ]
    await keep_pages(database, bodies, [old, old, new, old], rows)
    target = Target(
        id=1, source_id=1, url="", canonical_url="", host="", adapter_id="", good_page_id=1, good_digest=11
    )  # fmt: skip
    repository = StoredPageRepository(database)
    day = NOON - timedelta(hours=24)
    assert await repository.fresh(target, day) == StoredPage(2, NOON - timedelta(hours=20))
    assert await repository.fresh(target, NOON - timedelta(hours=10)) is None
    assert await repository.fresh(msgspec.structs.replace(target, good_page_id=None), day) is None


@pytest.mark.shows("F2")
async def test_a_page_that_was_paid_for_suggests_an_upgrade_that_a_person_accepts(mill, database):
    source = await mill.source(pages=2)
    await mill.enqueue(source)
    for claimed in await mill.claim(await mill.worker()):
        await mill.commit((claimed, paid(mill.fetched(claimed))))
    upgrades = UpgradeRepository(database, mill.ids)
    (found,) = await upgrades.every("pending")
    assert (found.source_name, found.fetcher, found.times) == ("arnhem", "scrapingbee", 2)
    assert found.reason == "forbidden: the server answered 403"
    await upgrades.decide(found, "accepted", "ann", NOON, [])
    assert [row["fetcher"] for row in await mill.rows(sources)] == ["scrapingbee"]
    assert await upgrades.every("pending") == []


async def test_a_persons_no_stands(mill, database):
    source = await mill.source(pages=2)
    await mill.enqueue(source)
    first, second = await mill.claim(await mill.worker())
    await mill.commit((first, paid(mill.fetched(first))))
    upgrades = UpgradeRepository(database, mill.ids)
    (found,) = await upgrades.every("pending")
    await upgrades.decide(found, "dismissed", "ann", NOON, [])
    await mill.commit((second, paid(mill.fetched(second))))
    assert await upgrades.every("pending") == []
    assert [row["fetcher"] for row in await mill.rows(sources)] == [FetcherKind.HTTP]
    assert await mill.rows(audit_log) == []


def paid(outcome):
    """The same page as the paid fetcher brings it in another's place."""
    result = msgspec.structs.replace(
        outcome.produced.result, fetcher="scrapingbee", instead_of="forbidden: the server answered 403"
    )
    return Advance(outcome.to, msgspec.structs.replace(outcome.produced, result=result))


@pytest.mark.shows("F4")
async def test_a_stored_page_ends_a_job_without_a_word_about_the_source(mill):
    source = await mill.source()
    await mill.enqueue(source)
    (claimed,) = await mill.claim(await mill.worker())
    result = FetchResult(
        status=FetchStatus.OK,
        url=claimed.job.url,
        fetcher="stored",
        stored=StoredPage(41, NOON),
        error="out of credits",
    )
    served = Advance(Stage.COMPLETED, ServedFromStore(mill.page(), result), degraded=(BEE,), from_stored_page=True)
    _, committed = await mill.commit((claimed, served))
    (job,), (target,), (run,) = await mill.rows(jobs), await mill.rows(targets), await mill.rows(runs)
    assert (job["status"], job["page_id"], job["last_error"]) == ("done", 41, "out of credits")
    assert (target["last_status"], await mill.rows(pages)) == (STORED, [])
    assert [row["last_success_at"] for row in await mill.rows(sources)] == [None]
    assert run["degraded"] == ["scrapingbee"]
    summary = await mill.ledger.runs.close(committed.finished_runs[0], NOON)
    assert summary.degraded == ("scrapingbee",)
    assert not summary.complete, "what was not looked at must not fade"


@pytest.mark.shows("R3")
async def test_a_run_names_every_service_that_it_had_to_do_without_once(mill):
    source = await mill.source(pages=3)
    await mill.enqueue(source)
    claims = await mill.claim(await mill.worker())
    for claimed, services in zip(claims, [(Service.REDIS,), (), (BEE, Service.REDIS)], strict=True):
        await mill.commit((claimed, Snooze(NOON, "later", degraded=services)))
    assert [row["degraded"] for row in await mill.rows(runs)] == [["redis", "scrapingbee"]]


async def test_a_lane_without_work_is_not_woken_by_the_pages_of_another(mill):
    source = await mill.source(pages=2, pace=Pace(timedelta(seconds=2)))
    await mill.enqueue(source)
    await mill.claim(await mill.worker())
    assert await mill.ledger.next_moment(NOON, "http") == NOON + timedelta(seconds=2)
    assert await mill.ledger.next_moment(NOON, "apify") is None


async def test_a_lane_is_woken_for_its_own_jobs(mill):
    source = await mill.source(pages=2, pace=Pace(timedelta(seconds=2)), fetcher=FetcherKind.APIFY)
    await mill.enqueue(source)
    (claimed,) = await mill.ledger.claim("apify", 10, await mill.worker(), NOON)
    await mill.commit((claimed, Snooze(NOON + timedelta(seconds=1), "the actor is at work")))
    assert await mill.ledger.next_moment(NOON, "apify") == NOON + timedelta(seconds=1)
    assert await mill.ledger.next_moment(NOON + timedelta(seconds=1), "apify") == NOON + timedelta(seconds=2)
