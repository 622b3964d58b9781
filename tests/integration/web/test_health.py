import asyncio
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed
from sqlalchemy import text

from integration.web.conftest import Browser, browsing
from integration.web.world import furnish, only_late, open_breaker, tick_went_well
from rig.clock import NOON, SettableClock
from rig.rows import a_target, put
from tidemill.bootstrap.system import System, build
from tidemill.core.failure import Failure
from tidemill.core.outcome import Stage
from tidemill.pipeline.happenings import JobWaits
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade
from tidemill.store.schema import targets
from tidemill.web import system_monitor
from tidemill.web.deps import WebDeps

pytestmark = pytest.mark.shows("H4")


@pytest.mark.inventory(25)
async def test_all_is_well(system: System, browser: Browser) -> None:
    await furnish(system)
    answer = await browser.get("/health")
    health = answer.json()
    assert (answer.status, health["status"], health["reasons"]) == (200, "healthy", [])
    assert health["database"]["reachable"]
    assert health["active_scraper_count"] == 0  # nothing is watched live
    assert len(health["workers"]) == 1
    assert health["workers"][0]["last_seen"] == "2026-03-02T12:00:00Z"
    assert "health_status" not in health["workers"][0]
    assert health["sources"] == {"well": 1}
    assert health["waiting"]["dead_letters"] == 1
    assert health["uptime_seconds"] == 3600
    assert health["resources"]["total_memory_mb"] > 0
    assert health["errors"] == {"last_minute": 0, "last_hour": 0, "circuit_breakers": []}


@pytest.mark.inventory(33)
async def test_an_open_breaker_degrades_us_and_names_its_source(system: System, browser: Browser) -> None:
    await furnish(system)
    await open_breaker(system)
    answer = await browser.get("/health")
    health = answer.json()
    assert (answer.status, health["status"]) == (200, "degraded")
    assert health["reasons"] == [
        (
            "every source that is on is held back: nothing is scraped "
            "(Town hall: its breaker is open until 2026-03-02 12:30 UTC)"
        ),
        "1 breaker is open: Town hall",
    ]
    assert health["errors"]["circuit_breakers"][0]["state"] == "OPEN"


async def test_overdue_work_degrades_us(system: System, browser: Browser) -> None:
    await furnish(system)
    await only_late(system, "dispatch")
    health = (await browser.get("/health")).json()
    assert health["status"] == "degraded"
    assert [late["subject"] for late in health["overdue"]] == ["tick dispatch"]


async def test_targets_that_the_schedule_passed_over_degrade_us(system: System, browser: Browser) -> None:
    await furnish(system)
    await put(system.store.database, targets, a_target(2, next_due_at=NOON - timedelta(hours=2)))
    health = (await browser.get("/health")).json()
    assert health["reasons"] == ["source Town hall is overdue: 1 target is due and got no job"]


async def test_without_a_living_worker_we_are_down(system: System, browser: Browser, clock: SettableClock) -> None:
    await furnish(system)
    clock.advance(timedelta(seconds=61))
    answer = await browser.get("/health")
    assert (answer.status, answer.json()["status"]) == (503, "down")
    assert "no worker is alive" in answer.json()["reasons"]


@pytest.mark.inventory(32, 35)
async def test_many_errors_in_a_minute_degrade_us(system: System, deps: WebDeps, browser: Browser) -> None:
    await furnish(system)
    failed = JobWaits(NOON, 1, 1, 1, "a.example", Stage.FETCH, NOON, "", Failure.TIMED_OUT)
    for _ in range(5):
        deps.rate_counter.count(failed)
    health = (await browser.get("/health")).json()
    assert health["reasons"] == ["5 errors in the last minute"]
    assert (health["errors"]["last_minute"], health["errors"]["last_hour"]) == (5, 5)


async def test_a_database_that_is_gone_is_told_by_every_address(
    sqlite_system: System, sqlite_browser: Browser, tmp_path: Path
) -> None:
    await furnish(sqlite_system)
    await sqlite_system.store.database.close()
    shutil.rmtree(tmp_path)
    health = await sqlite_browser.get("/health")
    assert (health.status, health.json()["status"]) == (503, "down")
    assert health.json()["reasons"] == [
        "the database file cannot be opened: check that its folder exists and may be written"
    ]
    ready = await sqlite_browser.get("/ready")
    assert (ready.status, ready.error["code"]) == (503, "database_away")
    assert (await sqlite_browser.get("/status")).status == 503
    assert (await sqlite_browser.get("/api/v1/events")).error["code"] == "database_away"
    page = await sqlite_browser.page("/")
    assert page.status == 503
    assert "Not working" in page.text
    assert "Nothing is lost" in page.text
    metrics = await sqlite_browser.get("/metrics")
    assert metrics.status == 200
    assert "scraper_store_trouble_total" in metrics.text
    assert "scraper_jobs{" not in metrics.text


async def test_a_database_that_hangs_does_not_hang_us(
    postgres_url: str, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = build(load_settings(database=postgres_url), clock=clock)
    await upgrade(system.store.database)
    await furnish(system)
    monkeypatch.setattr(system_monitor, "TIMEOUT_SECONDS", 0.2)
    async with system.store.database.write() as connection:
        await connection.execute(text("LOCK TABLE pipeline_jobs IN ACCESS EXCLUSIVE MODE"))
        async for browser in browsing(system):
            answer = await browser.get("/health")
            assert (answer.status, answer.json()["database"]["reachable"]) == (503, False)
            assert "did not answer within" in answer.json()["reasons"][0]
    await system.close()


async def test_we_are_ready_once_the_tables_are_there(sqlite_url: str, clock: SettableClock) -> None:
    system = build(load_settings(database=sqlite_url), clock=clock)
    async for browser in browsing(system):
        early = await browser.get("/ready")
        assert (early.status, early.error["code"]) == (503, "database_away")
        assert "tidemill migrate" in early.error["detail"]
        await upgrade(system.store.database)
        assert (await browser.get("/ready")).json() == {"ready": True}
    await system.close()


async def test_the_status_holds_the_schedule_against_what_happened(system: System, browser: Browser) -> None:
    await furnish(system)
    await only_late(system, "dispatch")
    status = (await browser.get("/status")).json()
    assert status["status"] == "degraded"
    assert {tick["name"] for tick in status["ticks"]} == set(system.ticks.chores)
    assert [late["subject"] for late in status["overdue"]] == ["tick dispatch"]
    assert status["totals"]["dead_letters"] == {"pending": 1}
    assert status["last_fired"]["breaker"] is None


async def test_the_status_is_kept_for_five_seconds(
    sqlite_system: System, sqlite_browser: Browser, clock: SettableClock
) -> None:
    await furnish(sqlite_system)
    assert (await sqlite_browser.get("/status")).json()["status"] == "healthy"
    await open_breaker(sqlite_system)
    clock.advance(timedelta(seconds=5))
    assert (await sqlite_browser.get("/status")).json()["status"] == "healthy"
    clock.advance(timedelta(seconds=1))
    assert (await sqlite_browser.get("/status")).json()["status"] == "degraded"


async def test_metrics_are_readable_and_hold_every_documented_name(
    system: System, browser: Browser, project_root: Path
) -> None:
    await furnish(system)
    await open_breaker(system)
    await tick_went_well(system, "dispatch", ago=timedelta(minutes=1))
    answer = await browser.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    families = {family.name: family for family in parsed(answer.text)}
    documented = re.findall(r"^\| `(\w+)` \|", (project_root / "docs" / "metrics.md").read_text(), re.MULTILINE)
    absent = {name for name in documented if name.removesuffix("_total") not in families and name not in families}
    assert absent == set()
    values = {(s.name, *s.labels.values()): s.value for family in families.values() for s in family.samples}
    assert values["scraper_jobs", "dead"] == 1
    assert values["scraper_circuit_breakers", "OPEN"] == 1
    assert values["scraper_workers",] == 1
    assert values["scrape_source_available", "events.generic", "1"] == 0
    assert values["scraper_tick_age_seconds", "dispatch"] == 60


async def test_many_who_ask_at_once_are_all_answered(system: System, browser: Browser) -> None:
    await furnish(system)
    paths = ["/health", "/status", "/metrics", "/api/v1/events", "/api/v1/sources", "/"] * 10
    answers = await asyncio.gather(*(browser.get(path) for path in paths))
    refused = {path: answer.text for path, answer in zip(paths, answers, strict=True) if answer.status != 200}
    assert refused == {}
