"""The ledger's promises, the same on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from rig.clock import NOON
from rig.mill import at_stage, event
from tidemill.core.admission import QueueLimits
from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Snooze, Stage
from tidemill.core.pacing import Pace
from tidemill.core.run import RunStatus, Trigger
from tidemill.pipeline.checkpoints import AcceptedRecords, Fetched, Judged
from tidemill.pipeline.kept_readings import decode_found
from tidemill.pipeline.ports import FetchResult, FetchStatus
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.schema import breakers, dead_letters, jobs, pages, runs, sources, targets
from tidemill.verticals.events.store.tables import events

SECOND = timedelta(seconds=1)
POLITE = Pace()


@pytest.mark.shows("O2")
async def test_a_run_and_its_jobs_are_one_transaction_and_a_target_is_never_enqueued_twice(mill):
    key = await mill.source(pages=3)
    due = await mill.agenda.of_source(key)
    first, _ = await mill.dispatcher.enqueue(due, Trigger.SCHEDULED)
    again, _ = await mill.dispatcher.enqueue(due, Trigger.SCHEDULED)
    assert (first.runs, first.jobs) == (1, 3)
    assert (again.runs, again.jobs) == (0, 0)
    assert len(await mill.rows(jobs)) == 3
    assert [row["open_jobs"] for row in await mill.rows(runs)] == [3]


@pytest.mark.shows("O2", "O7")
async def test_what_a_person_has_scraped_now_is_not_due_again_at_once(mill):
    key = await mill.source()
    (target,) = await mill.rows(targets)
    assert target["next_due_at"] == NOON
    mill.clock.advance(SECOND)
    await mill.enqueue(key, Trigger.MANUAL)
    (target,) = await mill.rows(targets)
    assert target["next_due_at"] > mill.clock.now()


async def test_each_stage_is_written_with_its_output_and_the_last_one_closes_the_job(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    committed = await mill.carry(claimed, ["Kermis", "Markt"])
    (job,) = await mill.rows(jobs)
    assert (job["current_stage"], job["status"]) == ("completed", "done")
    assert [row["title"] for row in await mill.rows(events)] == ["Kermis", "Markt"]
    assert len(await mill.rows(pages)) == 1
    assert committed.finished_runs == (job["run_id"],)
    (target,) = await mill.rows(targets)
    assert (target["last_status"], target["good_page_id"]) == ("SUCCESS", job["page_id"])


@pytest.mark.shows("B1")
async def test_a_worker_that_lost_its_lease_writes_nothing(mill):
    await mill.enqueue(await mill.source())
    sleeper, heir = await mill.worker("sleeper"), await mill.worker("heir")
    (held,) = await mill.claim(sleeper)
    mill.clock.advance(timedelta(seconds=90))
    await mill.workers.beat(heir, mill.clock.now())
    (rescue,) = await mill.workers.rescue(mill.clock.now())
    assert (rescue.worker_id, rescue.jobs) == (sleeper, 1)
    (taken,) = await mill.claim(heir)
    _, late = await mill.commit((held, mill.fetched(held, b"late")))
    assert late.still_leased == frozenset()
    assert await mill.rows(pages) == []
    _, mine = await mill.commit((taken, mill.fetched(taken)))
    assert mine.still_leased == {taken.job.id}
    assert not await mill.workers.beat(sleeper, mill.clock.now())


@pytest.mark.shows("R4")
async def test_a_commit_whose_answer_was_lost_is_not_written_twice(mill):
    await mill.enqueue(await mill.source())
    (held,) = await mill.claim(await mill.worker())
    fetched = mill.fetched(held)
    page = fetched.produced.page
    await mill.commit((held, fetched))
    parsing = (at_stage(held, Stage.PARSE, page.id), mill.parsed(page, ["Kermis", "Markt"]))
    _, first = await mill.commit(parsing)
    before = await mill.rows(runs)
    _, again = await mill.commit(parsing)
    assert first.still_leased == again.still_leased == {held.job.id}
    assert await mill.rows(runs) == before
    assert before[0]["field_counts"]["*"] == 2
    await mill.commit((at_stage(held, Stage.NORMALIZE, page.id), mill.judged(page, ["Kermis", "Markt"], held.source)))
    (job,) = await mill.rows(jobs)
    assert (job["current_stage"], job["status"]) == ("persist", "leased")


@pytest.mark.shows("O6", "F7")
async def test_a_rescued_job_resumes_after_its_last_checkpoint(mill):
    await mill.enqueue(await mill.source())
    dead, heir = await mill.worker("dead"), await mill.worker("heir")
    (held,) = await mill.claim(dead)
    outcome = mill.fetched(held, b"<p>kept</p>")
    await mill.commit((held, outcome))
    page = outcome.produced.page
    await mill.commit((at_stage(held, Stage.PARSE, page.id), mill.parsed(page, ["Kermis"])))
    mill.clock.advance(timedelta(seconds=90))
    await mill.workers.beat(heir, mill.clock.now())
    await mill.workers.rescue(mill.clock.now())
    (again,) = await mill.claim(heir)
    assert again.job.stage is Stage.NORMALIZE
    (resumed,) = await mill.ledger.restore([again])
    assert resumed.stage_input.page.body == b"<p>kept</p>"
    found = decode_found(resumed.stage_input.found.encoded)
    assert [raw.fields["title"] for raw in found.records] == ["Kermis"]


async def test_what_was_staged_is_revived_as_the_verticals_own_records(mill):
    await mill.enqueue(await mill.source())
    (held,) = await mill.claim(await mill.worker())
    outcome = mill.fetched(held)
    page = outcome.produced.page
    await mill.commit((held, outcome))
    await mill.commit((at_stage(held, Stage.PARSE, page.id), mill.parsed(page, ["Kermis"])))
    await mill.commit((at_stage(held, Stage.NORMALIZE, page.id), mill.judged(page, ["Kermis"], held.source)))
    (resumed,) = await mill.ledger.restore([at_stage(held, Stage.PERSIST, page.id)])
    assert isinstance(resumed.stage_input, Judged)
    assert resumed.stage_input.accepted[0].record == event("Kermis", held.source.id)


@pytest.mark.shows("O6")
async def test_a_job_in_hand_for_half_an_hour_is_taken_away_and_counted_against_its_source(mill):
    key = await mill.source()
    await mill.enqueue(key)
    worker = await mill.worker()
    await mill.claim(worker)
    for _ in range(31):
        mill.clock.advance(timedelta(minutes=1))
        await mill.workers.beat(worker, mill.clock.now())
    rescues = await mill.workers.rescue(mill.clock.now())
    assert [rescue.jobs for rescue in rescues] == [1]
    assert await mill.scalar("SELECT consecutive_failures FROM scraper_sources") == 1
    (job,) = await mill.rows(jobs)
    assert (job["status"], job["attempts"]) == ("ready", 1)


@pytest.mark.shows("R6")
async def test_a_worker_that_leaves_in_good_order_hands_its_jobs_back_at_once(mill):
    await mill.enqueue(await mill.source(pages=2))
    worker = await mill.worker()
    await mill.claim(worker)
    assert await mill.workers.sign_off(worker, mill.clock.now()) == 2
    assert len(await mill.claim(await mill.worker("next"))) == 2


async def test_a_lane_hands_back_its_own_jobs_and_leaves_those_of_other_lanes_in_hand(mill):
    await mill.enqueue(await mill.source(pages=2))
    worker = await mill.worker()
    (one, other) = await mill.claim(worker)
    async with mill.database.write() as connection:
        await connection.execute(update(jobs).where(jobs.c.id == other.job.id).values(lane="browser"))
    assert await mill.workers.release_lane(worker, "http") == 1
    assert {row["id"]: row["status"] for row in await mill.rows(jobs)} == {one.job.id: "ready", other.job.id: "leased"}
    assert await mill.workers.beat(worker, mill.clock.now())


async def test_the_last_moment_on_record_is_when_any_worker_was_seen(mill):
    assert await mill.workers.last_seen() is None
    first = await mill.worker()
    await mill.worker("second")
    mill.clock.advance(timedelta(hours=1))
    await mill.workers.beat(first, mill.clock.now())
    assert await mill.workers.last_seen() == mill.clock.now()


async def fail_for_good(mill, worker, failure=Failure.LAYOUT_CHANGED):
    (claimed,) = await mill.claim(worker, 1)
    await mill.commit((claimed, Fail(failure, "it broke", stack="stack")))
    return claimed


@pytest.mark.shows("R2")
async def test_out_of_road_is_a_dead_letter_with_all_that_a_retry_needs(mill):
    await mill.enqueue(await mill.source())
    claimed = await fail_for_good(mill, await mill.worker())
    (letter,) = await mill.rows(dead_letters)
    assert (letter["stage"], letter["error_type"], letter["error_message"]) == ("fetch", "layout_changed", "it broke")
    assert letter["error_stack"] == "stack"
    assert letter["payload"]["url"] == claimed.job.url
    assert letter["next_retry_at"] == NOON + timedelta(hours=1)


@pytest.mark.shows("R2")
async def test_a_dead_letter_is_retried_in_a_run_of_its_own_and_resolved_when_it_goes_well(mill):
    await mill.enqueue(await mill.source())
    worker = await mill.worker()
    await fail_for_good(mill, worker)
    mill.clock.advance(timedelta(hours=1))
    due = await mill.letters.due(mill.clock.now())
    assert [run.jobs for run in await mill.letters.retry(due, mill.clock.now())] == [1]
    (again,) = await mill.claim(worker)
    assert again.job.trigger == Trigger.RETRY
    await mill.carry(again)
    (letter,) = await mill.rows(dead_letters)
    assert letter["status"] == "resolved"


@pytest.mark.shows("R2")
async def test_a_retry_that_fails_goes_back_to_pending_with_a_longer_wait_and_at_last_waits_for_a_person(mill):
    await mill.enqueue(await mill.source())
    worker = await mill.worker()
    await fail_for_good(mill, worker)
    waits = []
    for _ in range(3):
        (letter,) = await mill.rows(dead_letters)
        waits.append((letter["next_retry_at"] - mill.clock.now()) // timedelta(hours=1))
        mill.clock.set(letter["next_retry_at"])
        await mill.letters.retry(await mill.letters.due(mill.clock.now()), mill.clock.now())
        await fail_for_good(mill, worker)
    (letter,) = await mill.rows(dead_letters)
    assert waits == [1, 2, 4]
    assert (letter["status"], letter["retry_count"], letter["next_retry_at"]) == ("pending", 3, None)


async def test_a_letter_whose_source_was_removed_waits_for_a_person_and_stops_no_other(mill):
    worker = await mill.worker()
    for name in ("gone", "here"):
        await mill.enqueue(await mill.source(name))
        await fail_for_good(mill, worker)
    async with mill.database.write() as connection:
        await connection.execute(sources.delete().where(sources.c.name == "gone"))
    mill.clock.advance(timedelta(hours=1))
    assert [
        run.jobs for run in await mill.letters.retry(await mill.letters.due(mill.clock.now()), mill.clock.now())
    ] == [1]
    assert [(row["status"], row["next_retry_at"] is None) for row in await mill.rows(dead_letters)] == [
        ("pending", True),
        ("retrying", False),
    ]


@pytest.mark.shows("R1")
async def test_five_failures_open_the_breaker_and_its_one_probe_closes_it(mill):
    key = await mill.source(pages=6)
    await mill.enqueue(key)
    worker = await mill.worker()
    claimed = await mill.claim(worker)
    shifts = []
    for each in claimed[:5]:
        _, done = await mill.commit((each, Fail(Failure.FORBIDDEN, "403")))
        shifts += [(shift.before, shift.after) for shift in done.breaker_changes]
    assert shifts == [("CLOSED", "OPEN")]
    assert await mill.breakers.admit(key, mill.clock.now()) == NOON + timedelta(minutes=30)
    mill.clock.advance(timedelta(minutes=30))
    assert await mill.breakers.admit(key, mill.clock.now()) is None
    assert await mill.breakers.admit(key, mill.clock.now()) is not None
    _, done = await mill.commit((claimed[5], mill.unchanged(claimed[5])))
    assert [(shift.before, shift.after) for shift in done.breaker_changes] == [("HALF_OPEN", "CLOSED")]
    row = await mill.scalar("SELECT total_rejections FROM circuit_breaker_state")
    assert row == 2


@pytest.mark.shows("O1")
async def test_a_source_whose_breaker_is_open_is_not_dispatched(mill):
    await mill.enqueue(await mill.source(pages=5))
    for each in await mill.claim(await mill.worker()):
        await mill.commit((each, Fail(Failure.FORBIDDEN, "403")))
    await mill.make_due(mill.clock.now())
    assert await mill.agenda.due(mill.clock.now(), 100) == []
    mill.clock.advance(timedelta(minutes=30))
    assert len(await mill.agenda.due(mill.clock.now(), 100)) == 5


async def test_a_target_that_a_person_paused_while_its_job_was_in_hand_stays_paused(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    async with mill.database.write() as connection:
        await connection.execute(update(targets).values(status="PAUSED", enabled=False))
    await mill.carry(claimed)
    assert [row["status"] for row in await mill.rows(targets)] == ["PAUSED"]


@pytest.mark.shows("S4")
async def test_a_target_that_failed_five_times_is_left_alone_for_a_week(mill):
    key = await mill.source()
    worker = await mill.worker()
    for _ in range(5):
        await mill.enqueue(key)
        await fail_for_good(mill, worker)
        mill.clock.advance(SECOND)
    (target,) = await mill.rows(targets)
    assert target["status"] == "BROKEN"
    await mill.make_due(mill.clock.now())
    await mill.dispatcher.dispatch()
    (target,) = await mill.rows(targets)
    assert target["next_due_at"] == mill.clock.now() + timedelta(days=7)


async def test_what_a_failed_fetch_brought_is_kept_as_evidence(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    fetched = mill.fetched(claimed, b"captcha").produced
    assert isinstance(fetched, Fetched)
    await mill.commit((claimed, Fail(Failure.FORBIDDEN, "403", evidence=fetched)))
    (page,) = await mill.rows(pages)
    assert page["failure"] == "forbidden"
    assert (await mill.ledger.materials.page(page["id"])).body == b"captcha"


@pytest.mark.shows("O4")
async def test_jobs_that_waited_for_a_day_become_stale_and_their_run_can_end(mill):
    await mill.enqueue(await mill.source(pages=2))
    mill.clock.advance(timedelta(hours=25))
    assert sum((await mill.sweeps.stale(timedelta(hours=24), mill.clock.now())).values()) == 2
    assert await mill.claim(await mill.worker()) == []
    (run_id,) = await mill.ledger.runs.finished()
    summary = await mill.ledger.runs.close(run_id, mill.clock.now())
    assert summary.status is RunStatus.FAILED


@pytest.mark.shows("O8")
async def test_a_run_in_which_all_was_refused_is_no_success_and_moves_neither_last_scrape_nor_failures(mill):
    key = await mill.source(pages=2)
    await mill.enqueue(key)
    for each in await mill.claim(await mill.worker(), 2):
        await mill.commit((each, Fail(Failure.ROBOTS_DISALLOWED, "/agenda")))
    (run_id,) = await mill.ledger.runs.finished()
    summary = await mill.ledger.runs.close(run_id, mill.clock.now())
    assert (summary.status, summary.counts.urls_refused, summary.complete) == (RunStatus.REFUSED, 2, False)
    (source,) = await mill.rows(sources)
    assert (source["last_scraped_at"], source["consecutive_failures"], source["reliability"]) == (None, 0, 1)
    assert {(row["last_scraped_at"], row["consecutive_failures"], row["last_status"])
            for row in await mill.rows(targets)} == {(None, 0, "ROBOTS_BLOCKED")}  # fmt: skip


async def test_a_run_is_closed_exactly_once(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    await mill.carry(claimed)
    assert await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now()) is not None
    assert await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now()) is None


async def test_several_runs_are_closed_at_once_and_those_that_are_closed_or_still_going_are_left_alone(mill):
    worker = await mill.worker()
    for name in ("arnhem", "zutphen", "deventer", "doesburg"):
        await mill.enqueue(await mill.source(name))
    one, two, three, going = await mill.claim(worker)
    for each in (one, two, three):
        await mill.carry(each, [f"Kermis {each.job.host}"])
    await mill.ledger.runs.close(two.job.run_id, mill.clock.now())
    keys = [each.job.run_id for each in (three, two, going, one)]
    closed = await mill.ledger.close_runs(keys, mill.clock.now())
    expected = [(each.source.name, 1, RunStatus.SUCCESS) for each in sorted((one, three), key=source_of)]
    assert [(each.source_name, each.counts.records_inserted, each.status) for each in closed] == expected
    assert await mill.ledger.close_runs(keys, mill.clock.now()) == []
    rows = {row["id"]: row["status"] for row in await mill.rows(runs)}
    assert rows.pop(going.job.run_id) == "RUNNING"
    assert set(rows.values()) == {"SUCCESS"}


def source_of(claimed):
    return claimed.job.source_id


@pytest.mark.shows("O4")
async def test_the_queue_turns_away_what_does_not_fit_and_says_so(mill):
    await mill.enqueue(await mill.source("one", pages=990))
    done, answer = await mill.enqueue(await mill.source("two", pages=20))
    assert (done.jobs, done.rejected) == (10, 10)
    assert (answer.reason, answer.retry_after) == ("queue_full", timedelta(minutes=5))
    assert mill.announced[-1].rejected == 10


@pytest.mark.shows("O4")
async def test_a_cycle_that_is_mostly_rejected_pauses_its_adapter_and_then_goes_on(mill):
    mill.dispatcher._limits = QueueLimits(per_adapter=1_000)
    await mill.enqueue(await mill.source("one", pages=1_000))
    await mill.source("two", pages=20)
    rejected = await mill.dispatcher.dispatch()
    assert rejected.rejected == 20
    mill.clock.advance(timedelta(minutes=1))
    paused = await mill.dispatcher.dispatch()
    assert list(paused.paused.values()) == [timedelta(minutes=4)]
    for each in await mill.claim(await mill.worker(), 1_000):
        await mill.commit((each, Fail(Failure.SOURCE_OFF, "off")))
    mill.clock.advance(timedelta(minutes=4))
    assert (await mill.dispatcher.dispatch()).jobs >= 20


@pytest.mark.shows("B2")
async def test_a_due_target_that_got_no_job_is_noticed(mill):
    await mill.source("forgotten", pages=2)
    mill.clock.advance(timedelta(hours=1))
    late = await mill.sweeps.undispatched(timedelta(minutes=30), mill.clock.now())
    assert late == [("forgotten", 2)]
    await mill.dispatcher.dispatch()
    assert await mill.sweeps.undispatched(timedelta(minutes=30), mill.clock.now()) == []


async def test_an_empty_harvest_is_a_good_page_too(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    outcome = mill.fetched(claimed)
    page = outcome.produced.page
    await mill.commit((claimed, outcome))
    judged = Judged(page, "events.generic@1.0.0", [], [])
    await mill.commit((at_stage(claimed, Stage.NORMALIZE, page.id), Advance(Stage.PERSIST, judged)))
    await mill.commit(
        (at_stage(claimed, Stage.PERSIST, page.id), Advance(Stage.COMPLETED, AcceptedRecords(judged, [], 0)))
    )
    assert await mill.scalar("SELECT status FROM pipeline_jobs") == "done"


async def test_runs_of_a_source_that_are_closed_together_count_one_after_the_other(mill):
    source, worker = await mill.source(), await mill.worker()
    keys = []
    for titles in (["Kermis", "Markt"], ["Kermis"], ["Kermis"]):
        await mill.enqueue(source)
        (claimed,) = await mill.claim(worker)
        await mill.carry(claimed, titles)
        keys.append(claimed.job.run_id)
        mill.clock.advance(timedelta(hours=1))
    closed = await mill.ledger.close_runs(keys[::-1], mill.clock.now())
    assert [(each.run_id, each.removed) for each in closed] == list(zip(keys, (0, 0, 1), strict=True))
    missed = {row["title"]: row["missed_runs"] for row in await mill.rows(events)}
    assert missed == {"Kermis": 0, "Markt": 2}


async def test_each_run_that_is_closed_with_others_counts_what_its_own_source_lost(mill):
    worker = await mill.worker()
    sources = [await mill.source(name) for name in ("arnhem", "zutphen")]
    gone = {}
    for kept in (["Kermis", "Markt"], ["Kermis"], ["Kermis"]):
        for source in sources:
            await mill.enqueue(source)
        claimed = await mill.claim(worker)
        for each in claimed:
            titles = kept if each.source.name == "arnhem" else ["Kermis", "Markt"]
            await mill.carry(each, [f"{title} {each.source.name}" for title in titles], body=kept[-1].encode())
        mill.clock.advance(timedelta(hours=1))
        closed = await mill.ledger.close_runs([each.job.run_id for each in claimed], mill.clock.now())
        gone = {each.source_name: (each.complete, each.removed) for each in closed}
        mill.clock.advance(timedelta(hours=1))
    assert gone == {"arnhem": (True, 1), "zutphen": (True, 0)}
    (left,) = [row["title"] for row in await mill.rows(events) if row["gone_at"] is not None]
    assert left == "Markt arnhem"


@pytest.mark.shows("R1")
async def test_a_reset_breaker_frees_what_waits_for_it_and_one_probe_goes_first(mill):
    key = await mill.source(pages=3, pace=Pace(timedelta(0), 1, 3))
    await mill.enqueue(key)
    worker = await mill.worker()
    until = mill.clock.now() + timedelta(hours=8)
    await mill.commit(*((each, Snooze(until, "the breaker is open")) for each in await mill.claim(worker, 3)))
    row = {"source_id": key, "state": "OPEN", "failure_count": 5, "cooldown_until": until, "consecutive_opens": 4}
    async with mill.database.write() as connection:
        await connection.execute(breakers.insert(), [{**row, "changed_at": mill.clock.now()}])
    assert await mill.claim(worker, 3) == []
    repository = Breakers(mill.database, {})
    assert await repository.reset(key, mill.clock.now()) == ("OPEN", 3)
    freed = await mill.claim(worker, 3)
    assert len(freed) == 3
    assert await repository.admit(key, mill.clock.now()) is None, "the probe"
    later = await repository.admit(key, mill.clock.now())
    assert later is not None, "the others wait for its answer"
    await mill.commit(*((each, Snooze(later, "a probe is out")) for each in freed[1:]))
    await mill.carry(freed[0])
    (state,) = await mill.rows(breakers)
    assert state["state"] == "CLOSED"
    assert len(await mill.claim(worker, 3)) == 2, "what waited for the probe is free with its answer"


@pytest.mark.shows("F4")
async def test_a_wrong_name_holds_its_own_host_and_not_the_sources_breaker(mill):
    key = await mill.source(pages=3, host="town.test")
    async with mill.database.write() as connection:
        for number in (1, 2):
            old = update(targets).where(targets.c.url.endswith(f"/{number}"))
            await connection.execute(old.values(url=f"https://old.town.test/agenda/{number}"))
    await mill.enqueue(key)
    claimed = await mill.claim(await mill.worker(), 3)
    first = next(each for each in claimed if "//old." in each.job.url)
    async with mill.database.write() as connection:
        await connection.execute(update(jobs).where(jobs.c.id != first.job.id).values(status="ready", leased_by=None))
    await mill.commit((first, Fail(Failure.DNS_FAILED, "no such name")))
    assert await mill.rows(breakers) == []
    status = {each["url"]: each["status"] for each in await mill.rows(jobs)}
    assert status.pop(first.job.url) == "dead"
    assert status.pop("https://town.test/agenda/0") == "ready"
    assert list(status.values()) == ["waiting"]
    (letter,) = await mill.rows(dead_letters)
    assert letter["next_retry_at"] is None, "nobody tries a wrong name again by itself"


async def test_a_site_whose_certificate_is_wrong_is_left_alone_as_a_whole(mill):
    await mill.enqueue(await mill.source(pages=2, host="town.test", pace=Pace(timedelta(0), 1, 1)))
    worker = await mill.worker()
    (first,) = await mill.claim(worker, 1)
    await mill.commit((first, Fail(Failure.TLS_FAILED, "expired")))
    assert await mill.rows(breakers) == []
    assert await mill.claim(worker, 2) == []
    mill.clock.advance(timedelta(hours=1))
    assert len(await mill.claim(worker, 2)) == 1


async def test_a_page_that_leads_to_a_dead_name_keeps_no_other_page_of_its_site_waiting(mill):
    """One old link to a site that is gone put the whole host at rest for an hour, and what a stranger asked for too."""
    await mill.enqueue(await mill.source(pages=3, host="town.test", pace=Pace(timedelta(0), 3, 3)))
    worker = await mill.worker()
    (first,) = await mill.claim(worker, 1)
    page = replace(mill.page(b"", first.job.url), final_url="https://gone.example/")
    gone = FetchResult(
        status=FetchStatus.ERROR, url=page.url, final_url=page.final_url, failure=Failure.DNS_FAILED,
        error="no such name", requested_at=mill.clock.now(), retry_after=timedelta(days=1),
    )  # fmt: skip
    await mill.commit((first, Fail(Failure.DNS_FAILED, "no such name", evidence=Fetched(page, gone))))
    assert len(await mill.claim(worker, 3)) == 2
