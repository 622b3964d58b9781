"""Watches in the ledger: one per thing and hour, held by a fence, and written to by its holder alone."""

import asyncio
import gzip
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest
from sqlalchemy import select, update

from rig.clock import NOON
from rig.tallies import TALLIES, TALLY_VERTICAL
from rig.watching import ADAPTER, WatchStore
from tidemill.core.live.change import Change, ThingKey
from tidemill.core.live.lifecycle import Lifecycle, Move
from tidemill.core.live.rules import ListedThing, ListReading, Outlook, Phase
from tidemill.core.outcome import Stage
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.pipeline.checkpoints import Fetched
from tidemill.pipeline.live_ports import WATCH_LEASE, EndedWatch, PageCheck, PendingEntry, WatchCounts
from tidemill.pipeline.ports import FetchResult, FetchStatus
from tidemill.store.ledger.rate_limits import RateLimitRepository
from tidemill.store.ledger.runs import RunRepository
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.records.live import SequenceTaken
from tidemill.store.schema import (
    change_log,
    hosts,
    jobs,
    live_moves,
    live_pages,
    live_things,
    page_bodies,
    pages,
    runs,
    targets,
)
from tidemill.store.snapshots.reads import SnapshotReads

pytestmark = pytest.mark.shows("M1", "M6")
SECOND = timedelta(seconds=1)


@pytest.fixture
async def store(database, clock):
    opened = WatchStore(database, clock)
    yield opened
    await opened.bodies.close()


async def rows(store, table, **equal):
    query = select(table).order_by(*table.primary_key.columns)
    for name, value in equal.items():
        query = query.where(table.c[name] == value)
    async with store.database.read() as connection:
        return list((await connection.execute(query)).mappings())


async def watched(store, *names, worker=None):
    """Tallies that are listed and claimed; answers the worker and the watches of things by name."""
    source = await store.source()
    await store.list(source, *names)
    worker = worker or await store.worker()
    claimed = await store.claim(worker)
    return worker, {each.thing.key: each for each in claimed if each.thing is not None}


def entry(watch, points, seq, token, **other):
    change = Change(state={"points": points, "status": "live"})
    known = {
        "fence": watch.fence, "thing_id": watch.thing_id, "thing": watch.thing, "job": watch.pages[0].claimed.job,
        "token": token, "read_at": NOON, "source": "arena", "change": change, "seq": seq,
    }  # fmt: skip
    return PendingEntry(**(known | other))


def evidence(body=b'{"points": 1}'):
    page = Page(
        id=0, url="https://arena.test/tally/a", final_url="https://arena.test/tally/a", status_code=200, body=body,
        charset="utf-8", content_type="application/json", digest=1, fetched_at=NOON,
    )  # fmt: skip
    return Fetched(page, FetchResult(status=FetchStatus.OK, url=page.url, wire_body=body, body=body))


@pytest.mark.inventory(67)
async def test_a_list_brings_things_with_targets_and_a_watch_each_once(store):
    source = await store.source()
    moves = await store.list(source, "a", "b", "?nobody")
    assert [(thing.key, move.after) for thing, move in moves] == [("a", "DISCOVERED"), ("b", "DISCOVERED")]
    assert await store.list(source, "a", "b") == []
    opened = await asyncio.gather(*(store.ledger.open_missing(NOON) for _ in range(2)))
    assert sorted(len(each) for each in opened) == [0, 3]
    assert await store.ledger.open_missing(NOON) == []
    assert {row["due_at"] for row in await rows(store, jobs)} == {NOON}
    assert {(row["lane"], row["current_stage"]) for row in await rows(store, jobs)} == {("live", Stage.WATCH)}
    claimed = await store.ledger.claim(await store.worker(), 10, NOON)
    assert sorted(each.thing.key if each.thing else "list" for each in claimed) == ["a", "b", "list"]
    assert [row["moved_to"] for row in await rows(store, live_moves)] == ["DISCOVERED"] * 2


async def test_a_change_is_snapshot_log_entry_and_page_in_one_transaction_published_after_it(store):
    _, watches = await watched(store, "a")
    told: list[Any] = []
    store.log.on_publish(told.extend)
    written = await store.ledger.write([entry(watches["a"], 1, 1, 11, evidence=evidence())], NOON)
    assert told == []
    store.ledger.publish(written.appended)
    assert [change.seq for change in told] == [1]
    (page,) = await rows(store, pages)
    assert [(row["seq"], row["page_id"]) for row in await rows(store, change_log)] == [(1, page["id"])]
    assert (page["job_id"], page["target_id"]) == (watches["a"].job.id, watches["a"].pages[0].claimed.target.id)


async def test_what_is_committed_again_after_a_lost_answer_is_not_written_twice(store):
    _, watches = await watched(store, "a")
    first = entry(watches["a"], 1, 1, 11, evidence=evidence())
    await store.ledger.write([first], NOON)
    written = await store.ledger.write([first, entry(watches["a"], 2, 2, 12)], NOON)
    assert [each.entry.seq for each in written.appended] == [1, 2]
    assert len(await rows(store, change_log)) == 2
    assert len(await rows(store, pages)) == 1


async def test_a_number_that_does_not_follow_writes_nothing_at_all(store):
    _, watches = await watched(store, "a")
    with pytest.raises(SequenceTaken):
        await store.ledger.write([entry(watches["a"], 5, 2, 11, evidence=evidence())], NOON)
    assert await rows(store, change_log) == []
    assert await rows(store, pages) == []


async def test_a_lane_unseen_for_its_lease_loses_its_watches_and_then_writes_nothing(store, clock):
    _, watches = await watched(store, "a")
    other = await store.worker("other")
    clock.advance(WATCH_LEASE - SECOND)
    await store.ledger.beat(other, clock.now())
    assert await store.ledger.free_dead(clock.now()) == []
    clock.advance(2 * SECOND)
    (rescued,) = await store.ledger.free_dead(clock.now())
    assert rescued.jobs == 2
    taken = {each.thing.key: each for each in await store.claim(other) if each.thing}
    assert clock.now() - NOON < timedelta(seconds=20)
    frozen = await store.ledger.write([entry(watches["a"], 9, 1, 11)], clock.now())
    assert (frozen.appended, frozen.lost) == ([], frozenset({watches["a"].thing_id}))
    assert await rows(store, change_log) == []
    await store.ledger.write([entry(taken["a"], 1, 1, 12)], clock.now())
    assert [row["token"] for row in await rows(store, change_log)] == [12]
    assert {row["attempts"] for row in await rows(store, jobs)} == {0}


async def test_a_new_owner_begins_from_the_published_state_and_life(store):
    worker, watches = await watched(store, "a")
    life = msgspec.structs.replace(watches["a"].life, state=Lifecycle.ACTIVE)
    move = Move(Lifecycle.DISCOVERED, Lifecycle.ACTIVE, NOON, "the first good reading")
    await store.ledger.write([entry(watches["a"], 3, 1, 11, life=life, move=move)], NOON)
    await store.ledger.release([EndedWatch(each.job, WatchCounts()) for each in watches.values()], NOON)
    (again,) = [each for each in await store.claim(worker) if each.thing]
    assert (again.published.seq, again.published.state["points"]) == (1, 3)
    assert again.life.state is Lifecycle.ACTIVE
    assert again.job.fence > watches["a"].job.fence
    assert [row["moved_to"] for row in await rows(store, live_moves)] == ["DISCOVERED", "ACTIVE"]


async def test_the_next_hour_is_opened_in_the_same_hands_and_the_run_has_its_counts(store, clock):
    worker, watches = await watched(store, "a")
    clock.advance(timedelta(hours=1))
    ended = EndedWatch(
        watches["a"].job, WatchCounts(polls=10, good=9, failed=1, unchanged=7, changes=2), is_renewed=True
    )
    renewed, finished = await store.ledger.end([ended], worker, clock.now())
    job = renewed[watches["a"].job.id]
    assert (job.fence, job.target_id) == (1, watches["a"].job.target_id)
    assert [row["due_at"] for row in await rows(store, jobs, target_id=job.target_id)] == [NOON, clock.now()]
    assert await store.ledger.still_held(worker) >= {(job.id, 1)}
    (run,) = await rows(store, runs, id=watches["a"].job.run_id)
    assert (run["urls_attempted"], run["urls_succeeded"], run["pages_unchanged"]) == (10, 9, 7)
    assert finished == (run["id"],)


async def test_a_quiet_hour_of_a_thing_is_complete(store, clock):
    worker, watches = await watched(store, "a")
    repository = RunRepository(
        store.database, store.ids, cast("Any", {TALLIES: NoRecords()}), {TALLIES: TALLY_VERTICAL}
    )
    for changes in (40, 0):
        clock.advance(timedelta(hours=1))
        ended = EndedWatch(watches["a"].job, WatchCounts(polls=9, good=9, changes=changes), is_renewed=True)
        renewed, finished = await store.ledger.end([ended], worker, clock.now())
        (summary,) = await repository.close_all(finished, clock.now())
        assert (summary.complete, summary.doubts) == (True, ())
        watches["a"] = msgspec.structs.replace(watches["a"], job=renewed[watches["a"].job.id])


async def test_a_watch_that_ended_within_the_hour_can_be_opened_again(store, clock):
    worker, watches = await watched(store, "a")
    await store.ledger.end([EndedWatch(watches["a"].job, WatchCounts())], worker, clock.now())
    clock.advance(timedelta(minutes=5))
    again = [each for each in await store.claim(worker) if each.thing]
    assert [each.due_at for each in again] == [clock.now()]


async def test_lists_count_what_they_miss_and_only_complete_ones_do(store):
    source = await store.source()
    await store.list(source, "a", "b")
    ids = [row["id"] for row in await rows(store, live_things)]
    await store.list(source, "a", is_complete=False)
    for expected in (1, 2, 2):
        await store.list(source, "a")
        facts = await store.ledger.facts(ids)
        assert [max(facts[key].pages.values()) for key in ids] == [0, expected]
    await store.list(source, "a", "b")
    assert {row["missed_lists"] for row in await rows(store, live_pages)} == {0}


async def test_an_archived_thing_that_a_list_names_again_is_taken_up(store, clock):
    worker, watches = await watched(store, "a")
    life = msgspec.structs.replace(watches["a"].life, state=Lifecycle.ARCHIVED)
    await store.ledger.write([entry(watches["a"], 1, 1, 5, life=life)], NOON)
    await store.ledger.end([EndedWatch(watches["a"].job, WatchCounts())], worker, NOON)
    assert [each for each in await store.claim(worker) if each.thing] == []
    clock.advance(timedelta(hours=3))
    source = watches["a"].pages[0].claimed.source
    ((thing, move),) = await store.list(source, "a")
    assert (thing, move.after) == (ThingKey(TALLIES, "a"), Lifecycle.DISCOVERED)
    assert [each.thing.key for each in await store.claim(worker) if each.thing] == ["a"]


async def test_two_sites_tell_of_one_thing_and_its_watch_has_both_pages(store):
    one, two = await store.source("arena"), await store.source("stadium")
    await store.list(one, "a")
    await store.list(two, "a")
    (watch,) = [each for each in await store.claim(await store.worker()) if each.thing]
    assert sorted(page.site.source for page in watch.pages) == ["arena", "stadium"]


@pytest.mark.inventory(76)
async def test_commentary_of_a_thing_is_another_target_of_its_one_watch(store):
    source = await store.source()
    listed = [
        ListedThing(
            source_key="a", url=f"{source.base_url}/{name}/a", outlook=Outlook(Phase.IN_PLAY), title="a", resource=name
        )
        for name in ("scorecard", "commentary", "stats")
    ]
    await store.ledger.put_list(source, ADAPTER, ListReading(listed), NOON)
    (watch,) = [each for each in await store.claim(await store.worker()) if each.thing]
    assert {(page.site.resource, page.claimed.target.url.rpartition("/")[0]) for page in watch.pages} == {
        (name, f"{source.base_url}/{name}") for name in ("scorecard", "commentary", "stats")
    }


async def test_checks_are_written_for_the_holder_only(store, clock):
    _, watches = await watched(store, "a")
    watch = watches["a"]
    await store.ledger.write([entry(watch, 1, 1, 5)], NOON)
    later = clock.advance(15 * SECOND)
    page = watch.pages[0].claimed
    check = PageCheck(
        fence=watch.fence, thing_id=watch.thing_id, target_id=page.target.id, source_id=page.source.id,
        checked_at=later, changed_at=NOON, interval=2.5 * SECOND, debt=timedelta(0), polls=6, failed=1,
    )  # fmt: skip
    await store.ledger.note_checks([check], later)
    (row,) = await rows(store, live_pages)
    assert (row["checked_at"], row["polls"], row["total_failures"], row["interval_ms"]) == (later, 6, 1, 2500)
    snapshot = await SnapshotReads(store.database).latest(TALLIES, "a")
    assert snapshot is not None
    assert (snapshot.changed_at, snapshot.checked_at) == (NOON, later)
    await store.ledger.release([EndedWatch(watch.job, WatchCounts(polls=6, good=5))], later)
    await store.ledger.note_checks([msgspec.structs.replace(check, polls=100)], later)
    assert [row["polls"] for row in await rows(store, live_pages)] == [6]


async def test_slots_are_bought_together_and_returned_when_unused(store):
    await store.source("slow", pace=Pace(timedelta(seconds=0.25), 1, 1))
    limits = RateLimitRepository(store.database)
    pace = Pace(timedelta(seconds=0.25), 1, 1)
    batch = await limits.reserve_many("slow.test", pace, 10, SECOND, NOON, None)
    assert [slot.at - NOON for slot in batch.departures] == [timedelta(seconds=0.25) * n for n in range(5)]
    booked = batch.departures[-1].booked_until
    assert await limits.give_back("slow.test", pace, 3, booked)
    assert not await limits.give_back("slow.test", pace, 3, booked)
    (row,) = await rows(store, hosts, host="slow.test")
    assert row["tab_at"] == NOON + 2 * pace.interval
    assert (await limits.reserve("slow.test", pace, NOON, None)).at >= NOON + 2 * pace.interval


async def test_a_host_that_asked_to_be_left_alone_sells_no_slots(store):
    await store.source("shy", pace=Pace(SECOND, 1, 1))
    async with store.database.write() as connection:
        await connection.execute(hosts.update().values(opens_at=NOON + timedelta(minutes=2)))
    batch = await RateLimitRepository(store.database).reserve_many(
        "shy.test", Pace(SECOND, 1, 1), 5, SECOND, NOON, None
    )
    assert (batch.departures, batch.rests_until) == ((), NOON + timedelta(minutes=2))


class NoRecords:
    """A repository without records: tallies are only ever watched."""

    async def miss(self, *_):
        return {}

    async def close_run(self, *_):
        return None


async def test_pages_of_things_are_never_missed_by_dispatch(store, clock):
    source = await store.source()
    other = await store.source("rival")
    for each in (source, other):
        await store.list(each, "a", "b")
    await store.ledger.open_missing(clock.now())
    pages_of_things = select(targets.c.next_due_at).join(live_pages, live_pages.c.target_id == targets.c.id)
    async with store.database.read() as connection:
        assert list((await connection.execute(pages_of_things)).scalars()) == [None] * 4
    async with store.database.write() as connection:  # a person switched one off and on again
        await connection.execute(update(targets).values(next_due_at=clock.now()))
    clock.advance(timedelta(hours=2))
    assert await Sweeps(store.database).undispatched(timedelta(minutes=30), clock.now()) == []


async def test_the_page_of_a_change_is_packed_and_read_as_it_came(store):
    _, watches = await watched(store, "a")
    body = b'{"points": 1, "notes": [' + b", ".join(b'"ball %d, no run"' % number for number in range(200)) + b"]}"
    await store.ledger.write([entry(watches["a"], 1, 1, 11, evidence=evidence(body))], NOON)
    (page,) = await rows(store, pages)
    (kept,) = await rows(store, page_bodies)
    assert (kept["encoding"], kept["key"]) == ("zstd", page["body_key"])
    assert kept["length"] < len(body) / 5
    async with store.database.read() as connection:
        assert await store.bodies.get(connection, [kept["key"]]) == {kept["key"]: body}


async def test_a_page_that_came_packed_or_is_short_is_kept_as_it_came(store):
    _, watches = await watched(store, "a")
    short = evidence(b'{"points": 1}')
    came = evidence(gzip.compress(b"x" * 5_000))
    came = msgspec.structs.replace(came, result=msgspec.structs.replace(came.result, content_encoding="gzip"))
    changes = [entry(watches["a"], 1, 1, 11, evidence=short), entry(watches["a"], 2, 2, 12, evidence=came)]
    await store.ledger.write(changes, NOON)
    assert sorted(row["encoding"] for row in await rows(store, page_bodies)) == ["", "gzip"]
