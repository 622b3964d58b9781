"""Live polling watched from what processes publish: grade, watchdog, audit, `/health`, `/status`, metrics."""

import time
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from integration.web.world import furnish
from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.health.contexts import ContextUsage, RestartReason, ScraperContext
from tidemill.core.health.failed_tries import FailedTry, ResolutionMethod
from tidemill.core.health.recovery import RecoveryAction
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase
from tidemill.core.services.recycling import Vitals
from tidemill.core.views.browsers import BrowserState, PoolState
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.pipeline.happenings import GradeMoved, RecoveryBegun, RecoveryExhausted, RecoveryJudged
from tidemill.pipeline.health_ports import LaneReport
from tidemill.pipeline.live_ports import BreakerWord
from tidemill.store.schema import scraper_errors, scraper_health_log
from tidemill.store.upkeep.live_health import LiveHealthRepository
from tidemill.store.upkeep.retention import prune
from unit.telemetry import announced

PLAIN = ScraperContext(
    scraper_id="s-a", vertical="tallies", thing_key="a", url="https://site.example/a", start_time=NOON,
    source="site", last_update_time=NOON, phase=Phase.IN_PLAY, latency=timedelta(milliseconds=80),
)  # fmt: skip


def context(key="a", **other):
    named = {"scraper_id": f"s-{key}", "thing_key": key, "url": f"https://site.example/{key}"}
    return msgspec.structs.replace(PLAIN, **(named | other))


def at(seconds):
    return NOON + timedelta(seconds=seconds)


@pytest.fixture
def told(system):
    heard: list[Any] = []
    system.announce.add(heard.append)
    return heard


@pytest.fixture
def other(system):
    """Another process, which polls; this one only answers."""
    return LiveHealthRepository(system.store.database, system.store.ids, "elsewhere:1")


async def evaluate(system, clock, seconds):
    clock.set(at(seconds))
    return (await system.live_health.tick.run()).partition(":")[0]


@pytest.mark.shows("B4", "H2")
@pytest.mark.inventory(68, 87)
@pytest.mark.parametrize(
    ("ages", "grade"),
    [
        ((59.9, 59.9), "healthy"),
        ((60, 60), "degraded"),
        ((89.9, 89.9), "degraded"),
        ((90, 90), "recovering"),  # it stalled, and the watchdog acted at once
        ((1, 119.9), "degraded"),
        ((1, 120), "recovering"),
    ],
)
async def test_the_grade_follows_from_what_processes_published(system, clock, other, told, ages, grade):
    checks = [at(200 - age) for age in ages]
    contexts = [context(f"{number}", last_update_time=when) for number, when in enumerate(checks)]
    await other.publish(LaneReport(contexts=contexts), at(199))
    assert await evaluate(system, clock, 200) == grade
    assert [type(each) for each in told[:1]] == ([] if grade == "healthy" else [GradeMoved])


@pytest.mark.shows("B3", "H3")
@pytest.mark.inventory(88, 90, 92)
async def test_the_watchdog_takes_one_step_after_the_other_and_each_is_audited_and_judged(system, clock, other, told):
    sink = system.live_health.sink
    await system.store.browsers.publish(pool(pids=12), at(125))
    await other.publish(LaneReport(contexts=[context()]), at(125))
    assert await evaluate(system, clock, 130) == "recovering"
    wish = await system.store.browsers.wish()
    assert (wish.by, wish.at) == ("watchdog", at(130))
    assert await evaluate(system, clock, 145) == "recovering"  # nothing more for two minutes
    await system.store.browsers.publish(pool(pids=8), at(249))
    assert await evaluate(system, clock, 250) == "recovering"  # the recycle failed, the next step is taken
    first, second = reversed(await system.store.live_health.recoveries())
    assert (first.action_type, first.outcome, first.duration_seconds) == ("browser_recycle", "failed", 120.0)
    assert (first.metadata["pids_before"], first.metadata["pids_after"], first.metadata["by"]) == (12, 8, "watchdog")
    assert "120 s" in first.trigger_condition or "130 s" in first.trigger_condition
    assert (second.action_type, second.outcome) == ("context_pool_reset", "pending")
    [asked] = await sink.publish(LaneReport(contexts=[context()]), at(251))
    assert (asked.action, asked.by) == (RecoveryAction.CONTEXT_POOL_RESET, "watchdog")
    assert await sink.publish(LaneReport(contexts=[context()]), at(256)) == ()  # once
    await sink.publish(LaneReport(contexts=[context(last_update_time=at(265))]), at(266))
    assert await evaluate(system, clock, 270) == "healthy"
    [second, _] = await system.store.live_health.recoveries()
    assert (second.outcome, second.duration_seconds) == ("success", 20.0)
    assert [each.outcome for each in told if isinstance(each, RecoveryJudged)] == ["failed", "success"]
    assert [each.action for each in told if isinstance(each, RecoveryBegun)] == [
        "browser_recycle",
        "context_pool_reset",
    ]


@pytest.mark.shows("B3")
async def test_after_five_recoveries_in_an_hour_a_person_is_called_once(system, clock, other, told):
    for seconds in range(130, 1200, 15):
        await other.publish(LaneReport(contexts=[context()]), at(seconds))
        await evaluate(system, clock, seconds)
    begun = [each.action for each in told if isinstance(each, RecoveryBegun)]
    assert begun == ["browser_recycle", "context_pool_reset", *["soft_restart"] * 3]
    assert len([each for each in told if isinstance(each, RecoveryExhausted)]) == 1


@pytest.mark.shows("B3")
async def test_an_idle_system_is_healthy_for_ever(system, clock, other, told):
    ended = context(phase=Phase.COMPLETED, lifecycle=Lifecycle.COMPLETED)
    await other.publish(LaneReport(contexts=[ended]), NOON)
    assert await evaluate(system, clock, 590) == "healthy"
    assert await evaluate(system, clock, 90_000) == "healthy"
    assert told == []


async def test_lateness_by_the_pace_of_a_host_alone_starts_no_recovery(system, clock, other, told):
    await other.publish(LaneReport(contexts=[context(debt=timedelta(seconds=120))]), at(129))
    assert await evaluate(system, clock, 130) == "failing"
    assert [type(each) for each in told] == [GradeMoved]


async def test_a_watch_that_another_process_took_over_counts_once(system, clock, other):
    await other.publish(LaneReport(contexts=[context()]), at(10))  # and was killed
    taken = context(last_update_time=at(199), scraper_id="s-new")
    await system.live_health.sink.publish(LaneReport(contexts=[taken]), at(199))
    assert await evaluate(system, clock, 200) == "healthy"


@pytest.mark.shows("H1b", "H5")
@pytest.mark.inventory(38, 39)
async def test_each_context_is_logged_once_a_minute_and_kept_for_a_week(system, clock, other):
    usage = ContextUsage(memory_bytes=850 * 1024 * 1024, cpu_percent=15.2, browser_pid=7)
    polled = [context("a", usage=usage, error_count=3), context("b")]
    for seconds in range(0, 121, 15):
        await other.publish(LaneReport(contexts=polled), at(seconds))
        await evaluate(system, clock, seconds)
    rows = await everything(system, scraper_health_log)
    logged = [row.timestamp for row in rows if row.match_id == "a"]
    assert logged == [at(each) for each in (0, 60, 120)]
    last = next(row for row in rows if row.match_id == "a" and row.timestamp == at(60))
    assert (last.scraper_id, last.health_status, last.error_count) == ("s-a", "degraded", 3)
    assert (last.memory_mb, last.cpu_percent, last.update_latency_ms) == (850.0, 15.2, 80)
    assert (last.polling_interval_seconds, last.uptime_seconds, last.last_update_age_seconds) == (2.5, 60, 60)
    later = at(7 * 86_400 + 61)
    await prune(system.store.database, system.store.bodies, {"scraper_health_log": timedelta(days=7)}, later)
    assert {row.timestamp for row in await everything(system, scraper_health_log)} == {at(120)}


@pytest.mark.shows("H1b", "H5")
@pytest.mark.inventory(40, 41, 42)
async def test_every_failed_try_is_a_row_and_says_in_the_end_how_it_was_over(system):
    sink = system.live_health.sink
    sink.resolved("s-a", at(1), ResolutionMethod.AUTO_RETRY)  # nothing failed: costs nothing
    for seconds, failure in ((2, Failure.TIMED_OUT), (4, Failure.LAYOUT_CHANGED)):
        sink.failed(tried("s-a", seconds, failure, attempt=seconds // 2))
    sink.failed(tried("s-b", 5, Failure.FORBIDDEN))
    await sink.publish(LaneReport(contexts=[context()]), at(5))
    sink.resolved("s-a", at(7), ResolutionMethod.AUTO_RETRY)
    await sink.publish(LaneReport(contexts=[context()]), at(10))
    first, second, third = await everything(system, scraper_errors)
    assert (first.error_type, first.operation, first.retry_attempt, first.match_id) == ("network", "fetch", 1, "a")
    assert (first.error_message, first.stack_trace) == ("timeout: no answer", "steps")
    assert (first.resolved, first.resolution_time, first.resolution_method) == (True, at(7), "auto_retry")
    assert (second.error_type, second.resolved) == ("parsing", True)
    assert (third.error_type, third.resolved, third.resolution_method) == ("auth", False, None)
    counts = await system.store.live_health.error_counts(at(63))
    assert (counts.last_minute, counts.last_hour) == (2, 3)
    await system.store.live_health.resolve_orphans(
        [context("b", scraper_id="s-new", url="https://site.example/a", last_update_time=at(9))]
    )
    *_, third = await everything(system, scraper_errors)
    assert (third.resolution_method, third.resolution_time) == ("restart", at(9))


@pytest.mark.shows("B3", "H1")
@pytest.mark.inventory(13, 14, 15, 16)
async def test_a_restart_of_a_context_is_audited(system):
    system.live_health.sink.restarted(context(error_count=11), RestartReason.ERRORS, at(30))
    await system.live_health.sink.publish(LaneReport(), at(31))
    [noted] = await system.store.audit.latest()
    assert (noted.entry.action, noted.entry.subject) == ("soft_restart", "context a")
    assert noted.entry.detail["reason"] == "errors"
    assert (noted.entry.detail["errors"], noted.entry.detail["unchecked_seconds"]) == (11, 30.0)


@pytest.mark.shows("H4", "H1")
@pytest.mark.inventory(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 18, 26, 27, 28, 29, 30, 31, 62, 65)
async def test_health_tells_every_context_computed_here_and_now(system, clock, other, browser):
    await system.store.workers.register("worker", 1, at(100), ["live"])
    usage = ContextUsage(memory_bytes=850 * 1024 * 1024, cpu_percent=15.2, browser_pid=7)
    good = context("a", usage=usage, last_update_time=at(99), total_errors=2, total_updates=1200)
    await other.publish(LaneReport(contexts=[good, context("b", error_count=3, last_update_time=at(98))]), at(100))
    clock.set(at(100))
    told = (await browser.get("/health")).json()
    assert (told["active_scraper_count"], told["total_matches_scraping"]) == (2, 2)
    assert told["timestamp"] == "2026-03-02T12:01:40Z"
    assert told["scraper_counts"] == {"healthy": 1, "degraded": 1}
    worst, best = told["scrapers"]
    assert (worst["match_id"], worst["health_status"], worst["error_count"]) == ("b", "degraded", 3)
    assert {
        "scraper_id": "s-a", "match_id": "a", "url": "https://site.example/a", "error_count": 0, "total_errors": 2,
        "total_updates": 1200, "health_status": "healthy", "memory_mb": 850.0, "cpu_percent": 15.2,
        "polling_interval": 2.5, "uptime_seconds": 100.0, "browser_pid": 7,
        "start_time": "2026-03-02T12:00:00Z", "last_update": "2026-03-02T12:01:39Z",
    }.items() <= best.items()  # fmt: skip
    assert told["resources"]["total_memory_mb"] > 850
    assert told["resources"]["average_memory_mb"] == pytest.approx(told["resources"]["total_memory_mb"] / 2, abs=0.1)
    assert told["resources"]["peak_memory_mb"] >= told["resources"]["total_memory_mb"]
    assert [each["name"] for each in told["workers"]] == ["worker"]


@pytest.mark.shows("H4")
@pytest.mark.inventory(37)
async def test_live_things_that_nobody_has_checked_for_120_seconds_are_an_outage(system, clock, other, browser):
    await system.store.workers.register("worker", 1, at(119), ["live"])
    await other.publish(LaneReport(contexts=[context()]), at(119))
    clock.set(at(119.9))
    assert (await browser.get("/health")).status == 200
    clock.set(at(122))
    await system.store.workers.register("again", 2, at(122), ["live"])
    answer = await browser.get("/health")
    assert (answer.status, answer.json()["status"]) == (503, "down")
    assert "nothing live has been checked for 122 s" in answer.json()["reasons"]


@pytest.mark.shows("H4")
@pytest.mark.inventory(84, 85, 89)
async def test_status_tells_the_whole_summary_of_live_polling(system, clock, other, browser):
    contexts = [context(str(number), last_update_time=at(100 - number)) for number in range(1, 21)]
    contexts.append(context("dead", lifecycle=Lifecycle.PAUSED, total_errors=5))
    report = LaneReport(contexts=contexts, queue_depth={"live": 3, "completed": 1}, active_tasks=4, waiting_changes=2)
    await other.publish(report, at(100))
    clock.set(at(100))
    await system.live_health.tick.begin(RecoveryAction.MANUAL_TRIGGER, "me", "asked for", at(100))
    told = (await browser.get("/status")).json()["live"]
    assert told["freshness_stats"] | {"samples": 0} == {
        "median": 10.0, "p50": 10.0, "p95": 19.0, "max": 20.0, "count": 20, "samples": 0,
    }  # fmt: skip
    assert (told["grade"], told["queue_depth"], told["active_tasks"]) == ("healthy", 4, 4)
    assert (told["queue_by_priority"], told["waiting_changes"]) == ({"live": 3, "completed": 1}, 2)
    assert (told["paused_matches"], told["failure_ratio"]) == (["dead"], 0.0)
    assert told["last_success_time"] == "2026-03-02T12:01:39Z"
    assert told["config_snapshot"]["failing_from_seconds"] == 120
    [entry] = told["audit_entries"]
    assert (entry["action_type"], entry["trigger_condition"]) == ("manual_trigger", "asked for")
    assert entry["outcome"] == "pending"


async def test_the_failure_ratio_is_of_late_and_not_of_a_whole_life(system, clock, other):
    board = LiveHealthBoard(system.store.live_health, clock)
    for seconds, errors, updates in ((0, 90, 10), (60, 90, 20), (120, 92, 28)):
        clock.set(at(seconds))
        await other.publish(LaneReport(contexts=[context(total_errors=errors, total_updates=updates)]), at(seconds))
        await board.refresh()
    assert board.summary().failure_ratio == 0.1


async def test_a_process_knows_its_own_checks_within_a_second_and_those_of_others_when_they_publish(system, clock):
    board = LiveHealthBoard(system.store.live_health, clock)
    checked = [at(0)]
    board.follow(lambda: [context(last_update_time=checked[-1])])
    await board.refresh()
    assert board.contexts() == []  # a lane that has not published does not run
    board.published(LaneReport(contexts=[context(last_update_time=at(0))]), at(0))
    for second in (2, 3):
        checked.append(at(second))
        clock.set(at(second))
        await board.refresh()
        assert board.freshness().last_success == at(second)
    checked.append(at(9))
    await board.refresh()  # asked just now
    assert board.freshness().last_success == at(3)


@pytest.mark.shows("H3")
@pytest.mark.inventory(93)
async def test_a_person_can_have_browsers_replaced_over_http(system, browser):
    await system.store.browsers.publish(pool(pids=5), NOON)
    async with browser._session.post(f"{browser.address}/api/admin/recycle") as response:
        told = await response.json()
    assert (response.status, len(told["items"])) == (202, 1)
    wish = await system.store.browsers.wish()
    assert wish.by == "local"
    [entry] = await system.store.live_health.recoveries()
    assert (entry.action_type, entry.metadata["by"]) == ("manual_trigger", "local")
    [noted] = await system.store.audit.latest()
    assert (noted.entry.actor, noted.entry.action) == ("local", "manual_trigger")


@pytest.mark.shows("H6")
@pytest.mark.inventory(110, 111, 112, 115, 116, 117)
async def test_metrics_have_the_names_of_the_designs(system, clock, other, browser, deps):
    await system.store.browsers.publish(pool(pids=112, recycled={"age": 4, "tasks": 1}), at(100))
    contexts = [context(str(age), last_update_time=at(100 - age)) for age in (5, 25, 55, 110)]
    await other.publish(LaneReport(contexts=contexts, queue_depth={"live": 3}), at(100))
    clock.set(at(100))
    system.live_health.board.on_navigation_failure.append(deps.metrics.navigation_failed)
    system.live_health.sink.failed(tried("s", 1, Failure.TIMED_OUT))
    text = (await browser.get("/metrics")).text
    for line in (
        'scraper_contexts_active{instance="elsewhere:1"} 4.0',
        'scraper_queue_depth{priority="live"} 3.0',
        'scraper_freshness_seconds_bucket{le="10"} 1.0',
        'scraper_freshness_seconds_bucket{le="30"} 2.0',
        'scraper_freshness_seconds_bucket{le="60"} 3.0',
        'scraper_freshness_seconds_bucket{le="120"} 4.0',
        "scraper_freshness_seconds_count 4.0",
        "scraper_freshness_seconds_sum 195.0",
        'scraper_data_staleness_seconds{quantile="0.5"} 55.0',
        "scraper_data_staleness_seconds_count 4.0",
        'scraper_recycles_total{reason="uptime"} 4.0',
        'scraper_recycles_total{reason="task_count"} 1.0',
        'scraper_navigation_failures_total{domain="site.example"} 1.0',
    ):
        assert line in text, line
    for name, value in (("pids_current", 112), ("pages_open", 2), ("browser_uptime_seconds", 40)):
        assert f"scraper_{name}{{instance=" in text
        assert f"}} {value}.0" in text


def tried(scraper_id, seconds, failure, attempt=1):
    return FailedTry(
        scraper_id=scraper_id, at=at(seconds), failure=failure, operation="fetch", thing_key="a", message="no answer",
        stack="steps", url="https://site.example/a", attempt=attempt,
    )  # fmt: skip


def pool(pids, recycled=None):
    vitals = Vitals(started_at=at(60), last_used_at=at(60), pids=pids, tasks=9)
    browser = BrowserState(pid=1, driver_pid=2, version="1", is_leaving=False, vitals=vitals)
    return PoolState(browsers=(browser,), in_use={"site": 2}, recycled=recycled or {})


async def everything(system, table):
    async with system.store.database.read() as connection:
        return (await connection.execute(select(table).order_by(table.c.timestamp, table.c.id))).all()


@pytest.mark.shows("H4")
@pytest.mark.inventory(21, 22)
async def test_health_tells_of_a_breaker_what_became_of_each_call(system, clock, browser):
    await furnish(system)
    said = BreakerWord(1, "events", [False, False, True, False, False, False, False, False])
    clock.set(at(30))
    await system.store.live.signal([said], [], at(30))
    [breaker] = (await browser.get("/health")).json()["errors"]["circuit_breakers"]
    assert (breaker["name"], breaker["state"], breaker["failure_count"]) == ("Town hall", "OPEN", 5)
    assert (breaker["total_successes"], breaker["total_failures"], breaker["success_count"]) == (1, 7, 0)
    assert breaker["last_failure"] == breaker["last_state_change"] == "2026-03-02T12:00:30Z"
    assert breaker["total_calls"] == breaker["total_successes"] + breaker["total_failures"]
    assert breaker["total_rejections"] == 0


@pytest.mark.shows("H4")
@pytest.mark.inventory(34)
async def test_health_tells_how_long_pages_took_and_how_many_came_within_the_minute(system, clock, browser, deps):
    await furnish(system)
    for milliseconds in (100, 200, 900):
        deps.rate_counter.count(msgspec.structs.replace(announced.PAGE_GOT, at=NOON, milliseconds=milliseconds))
    clock.set(at(30))
    told = (await browser.get("/health")).json()["performance"]
    assert told == {"average_latency_ms": 400.0, "p95_latency_ms": 900.0, "updates_per_minute": 3}
    clock.set(at(90))
    assert (await browser.get("/health")).json()["performance"]["updates_per_minute"] == 0


@pytest.mark.shows("H4")
@pytest.mark.inventory(36)
async def test_health_of_a_thousand_contexts_is_told_within_a_tenth_of_a_second(sqlite_system, sqlite_browser, clock):
    """Processor time of both ends: the machine may do other things meanwhile. `make bench` polls beside it."""
    store = sqlite_system.store
    for number in range(4):
        process = LiveHealthRepository(store.database, store.ids, f"elsewhere:{number}")
        contexts = [context(f"{number}-{each}", error_count=each % 4) for each in range(250)]
        await process.publish(LaneReport(contexts=contexts), NOON)
    await store.workers.register("worker", 1, NOON, ["live"])
    took = []
    for _ in range(20):
        clock.advance(timedelta(seconds=1))  # every other answer reads anew what the processes published
        began = time.process_time()
        answer = await sqlite_browser.get("/health")
        took.append(time.process_time() - began)
        assert answer.status == 200
        assert (len(answer.json()["scrapers"]), answer.json()["active_scraper_count"]) == (100, 1_000)
    assert sorted(took)[18] < 0.1
