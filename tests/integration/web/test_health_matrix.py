"""Everything that speaks of health says the same, in every state of the system, because there is one rule."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Table, update

from integration.web.conftest import Browser, browsing, deps_of
from integration.web.world import only_late, open_breaker
from rig.clock import NOON
from rig.rows import a_job, a_letter, a_run, a_source, a_target, put
from tidemill.bootstrap.system import System
from tidemill.core.failure import Failure
from tidemill.core.outcome import Stage
from tidemill.core.services.degradation import Service
from tidemill.pipeline.happenings import JobWaits, StoreTrouble
from tidemill.store.schema import (
    adapter_status,
    breakers,
    dead_letters,
    hosts,
    incidents,
    jobs,
    rejected_records,
    runs,
    source_candidates,
    sources,
    targets,
    workers,
)
from tidemill.web.deps import WebDeps

pytestmark = pytest.mark.shows("R3b")

State = Callable[[System, WebDeps], Awaitable[None]]
GOOD: dict[str, Any] = {"urls_attempted": 4, "urls_succeeded": 4, "records_accepted": 12, "complete": True}
SOON = NOON + timedelta(hours=1)


async def well(system: System, _deps: WebDeps) -> None:
    """A source that ran and yielded, with somebody at work."""
    database = system.store.database
    await put(database, sources, a_source(name="Town hall", historical_count=12, last_success_at=NOON))
    await put(database, targets, a_target(next_due_at=SOON))
    await put(database, runs, a_run(completed_at=NOON, **GOOD))
    await system.worker.sign_in()


def then(table: Table, **values: Any) -> State:
    """The state in which all is well but for these values of a table."""

    async def make(system: System, deps: WebDeps) -> None:
        await well(system, deps)
        async with system.store.database.write() as connection:
            await connection.execute(update(table).values(**values))

    return make


def also(table: Table, *rows: dict[str, Any]) -> State:
    """The state in which all is well, with more rows."""

    async def make(system: System, deps: WebDeps) -> None:
        await well(system, deps)
        await put(system.store.database, table, *rows)

    return make


async def nothing(system: System, _deps: WebDeps) -> None:
    await system.worker.sign_in()


async def nobody_at_work(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    await system.worker.sign_off()


async def breaker_open(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    await open_breaker(system)
    async with system.store.database.write() as connection:
        await connection.execute(update(targets).values(next_due_at=NOON - timedelta(minutes=5)))


async def breaker_probing(system: System, deps: WebDeps) -> None:
    await breaker_open(system, deps)
    async with system.store.database.write() as connection:
        await connection.execute(update(breakers).values(state="HALF_OPEN", cooldown_until=NOON))


async def dispatch_late(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    await only_late(system, "dispatch")


async def geocoder_gone(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    await system.services.degraded(Service.GEOCODER, "no answer")


async def database_was_away(system: System, deps: WebDeps) -> None:
    """It stumbled and answers again; the first query that it answers ends the trouble."""
    await well(system, deps)
    system.services.hear(StoreTrouble(NOON, "the connection was lost"))


async def two_of_three(system: System, deps: WebDeps) -> None:
    """One is well, one fails, one is off."""
    await well(system, deps)
    database = system.store.database
    await put(database, sources, a_source(2, name="Failing"), a_source(3, name="Off", enabled=False))
    await put(database, targets, *(a_target(key, source_id=key, next_due_at=SOON) for key in (2, 3)))
    await put(
        database, runs, a_run(2, source_id=2, status="FAILED", urls_attempted=3, urls_failed=3, completed_at=NOON)
    )


async def approval_missing(system: System, _deps: WebDeps) -> None:
    database = system.store.database
    await put(database, sources, a_source(name="Shop", vertical="prices", adapter_id="prices.generic"))
    await put(database, targets, a_target(adapter_id="prices.generic", next_due_at=SOON))
    await system.worker.sign_in()


async def letters(system: System, deps: WebDeps, count: int, **other: Any) -> None:
    await well(system, deps)
    await put(
        system.store.database, jobs, *(a_job(key, status="dead", failure="timeout") for key in range(1, count + 1))
    )
    await put(system.store.database, dead_letters, *(a_letter(key, **other) for key in range(1, count + 1)))


async def a_few_letters(system: System, deps: WebDeps) -> None:
    await letters(system, deps, 3)


async def many_letters(system: System, deps: WebDeps) -> None:
    await letters(system, deps, 51)


async def a_dns_letter(system: System, deps: WebDeps) -> None:
    await letters(system, deps, 1, error_type=Failure.DNS_FAILED.value)


async def errors(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    for _ in range(5):
        deps.rate_counter.count(JobWaits(NOON, 1, 1, 1, "a.example", Stage.FETCH, NOON, "", Failure.TIMED_OUT))


async def terms_withdrawn(system: System, deps: WebDeps) -> None:
    """A shop that ran, and whose approval a person took back."""
    await well(system, deps)
    async with system.store.database.write() as connection:
        values = {
            "vertical": "prices",
            "adapter_id": "prices.generic",
            "tos_reviewed_at": NOON,
            "tos_approved_by": None,
        }
        await connection.execute(update(sources).values(**values))
        await connection.execute(update(targets).values(adapter_id="prices.generic"))


async def worker_died(system: System, deps: WebDeps) -> None:
    """One of two workers was killed, and nothing has taken its place."""
    await well(system, deps)
    gone = {"id": 99, "name": "elsewhere:1", "pid": 1, "started_at": NOON - timedelta(hours=1),
            "seen_at": NOON - timedelta(minutes=5)}  # fmt: skip
    await put(system.store.database, workers, gone)


async def only_worker_died(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    async with system.store.database.write() as connection:
        await connection.execute(update(workers).values(seen_at=NOON - timedelta(minutes=5)))


async def probe_out(system: System, deps: WebDeps) -> None:
    await breaker_open(system, deps)
    async with system.store.database.write() as connection:
        await connection.execute(update(breakers).values(state="HALF_OPEN", cooldown_until=NOON + timedelta(minutes=2)))


async def letters_discarded(system: System, deps: WebDeps) -> None:
    await letters(system, deps, 60, status="discarded", resolved_at=NOON)


async def off_behind_an_open_breaker(system: System, deps: WebDeps) -> None:
    await breaker_open(system, deps)
    async with system.store.database.write() as connection:
        await connection.execute(update(sources).values(enabled=False))


async def one_adapter_off(system: System, deps: WebDeps) -> None:
    """Its other target is read by an adapter that is switched off."""
    await well(system, deps)
    await put(system.store.database, targets, a_target(2, adapter_id="events.selectors", next_due_at=SOON))
    await put(system.store.database, adapter_status, ADAPTER_OFF | {"adapter_id": "events.selectors"})


async def cooldown_over(system: System, deps: WebDeps) -> None:
    """The breaker's rest is over, and nobody has asked yet."""
    await breaker_open(system, deps)
    async with system.store.database.write() as connection:
        await connection.execute(update(breakers).values(cooldown_until=NOON - timedelta(minutes=1)))
        await connection.execute(update(targets).values(next_due_at=SOON))


async def first_run_failing(system: System, deps: WebDeps) -> None:
    await well(system, deps)
    async with system.store.database.write() as connection:
        values = {"status": "RUNNING", "completed_at": None, "urls_failed": 3, "urls_succeeded": 0, "open_jobs": 1}
        await connection.execute(update(runs).values(**values))


RESTING = {"host": "a.example", "interval_ms": 2000, "burst": 1, "parallel": 1, "opens_at": NOON + timedelta(hours=10)}
QUARANTINED = {"id": 1, "page_id": 1, "source_id": 1, "run_id": 1, "job_id": 1, "vertical": "events", "position": 0,
               "verdict": "quarantined", "reason": "contradictory_date", "detail": "", "raw": {},
               "created_at": NOON}  # fmt: skip
CANDIDATE = {"id": 1, "canonical_url": "https://b.example", "url": "https://b.example", "site": "b.example",
             "place": "Goes", "status": "pending", "method": "rules", "reasons": [], "samples": [],
             "found_at": NOON}  # fmt: skip
INCIDENT = {"id": 1, "adapter_id": "events.generic", "source_id": 1, "rule": "failures", "detail": "few", "run_id": 1,
            "alert": "failure_rate", "severity": "P2", "cause": "adapter events.generic",
            "opened_at": NOON, "last_seen_at": NOON}  # fmt: skip
ADAPTER_OFF = {"adapter_id": "events.generic", "enabled": False, "updated_at": NOON, "disabled_at": NOON}

STATES: dict[str, tuple[State, str, str]] = {
    "no sources": (nothing, "healthy", ""),
    "well": (well, "healthy", "well"),
    "nobody at work": (nobody_at_work, "down", "well"),
    "switched off by a person": (then(sources, enabled=False), "degraded", "off"),
    "switched off by drift": (then(sources, auto_disabled=True), "degraded", "off"),
    "not allowed by robots.txt": (then(sources, robots_compliant=False), "degraded", "held back"),
    "terms not approved": (approval_missing, "degraded", "held back"),
    "vertical not installed": (then(sources, vertical="gone"), "degraded", "held back"),
    "all targets paused": (then(targets, enabled=False, status="PAUSED"), "degraded", "held back"),
    "all targets broken": (then(targets, status="BROKEN", consecutive_failures=5), "degraded", "failing"),
    "adapter off": (also(adapter_status, ADAPTER_OFF), "degraded", "held back"),
    "breaker open and due": (breaker_open, "degraded", "held back"),
    "breaker probing": (breaker_probing, "degraded", "failing"),
    "every page fails": (
        then(runs, status="FAILED", urls_failed=4, urls_succeeded=0, records_accepted=0), "degraded", "failing"),
    "most pages fail": (then(runs, status="PARTIAL", urls_failed=3, urls_succeeded=1), "degraded", "failing"),
    "few pages fail": (then(runs, status="PARTIAL", urls_failed=1, urls_succeeded=3), "healthy", "well"),
    "yields nothing": (then(runs, records_accepted=0, complete=False), "degraded", "yields nothing"),
    "all set aside": (then(runs, records_accepted=0, records_quarantined=5), "degraded", "yields nothing"),
    "declared empty": (then(runs, records_accepted=0, complete=True), "healthy", "empty"),
    "only unchanged pages": (then(runs, records_accepted=0, records_seen_again=12), "healthy", "well"),
    "never ran": (then(runs, status="RUNNING"), "healthy", "new"),
    "a chore is late": (dispatch_late, "degraded", "well"),
    "targets passed over": (then(targets, next_due_at=NOON - timedelta(hours=2)), "degraded", "well"),
    "a service is gone": (geocoder_gone, "degraded", "well"),
    "the database was away": (database_was_away, "healthy", "well"),
    "one of three is well": (two_of_three, "degraded", "well"),
    "a few letters": (a_few_letters, "healthy", "well"),
    "over 50 letters": (many_letters, "degraded", "well"),
    "a letter no retry will mend": (a_dns_letter, "degraded", "well"),
    "records set aside": (also(rejected_records, QUARANTINED), "healthy", "well"),
    "candidates wait": (also(source_candidates, CANDIDATE), "healthy", "well"),
    "an open incident": (also(incidents, INCIDENT), "healthy", "well"),
    "many errors": (errors, "degraded", "well"),
    "every path forbidden by a person": (then(targets, robots_path_blocked=True), "degraded", "held back"),
    "terms withdrawn": (terms_withdrawn, "degraded", "held back"),
    "host resting for hours": (also(hosts, RESTING), "healthy", "well"),
    "last run refused": (
        then(runs, status="REFUSED", urls_succeeded=0, urls_refused=4, records_accepted=0), "degraded", "failing"),
    "a run set aside by drift": (then(runs, status="QUARANTINED", complete=False), "healthy", "well"),
    "a worker died": (worker_died, "degraded", "well"),
    "the only worker died": (only_worker_died, "down", "well"),
    "a probe is out": (probe_out, "degraded", "failing"),
    "only discarded letters": (letters_discarded, "healthy", "well"),
    "off and its breaker open": (off_behind_an_open_breaker, "degraded", "off"),
    "one adapter of two off": (one_adapter_off, "healthy", "well"),
    "stale jobs": (also(jobs, a_job(1, status="stale", current_stage="fetch", completed_at=NOON)), "healthy", "well"),
    "cooldown over and unasked": (cooldown_over, "degraded", "failing"),
    "a first run, all of it failed so far": (first_run_failing, "healthy", "new"),
}  # fmt: skip
"""Each state: how it is made, what the system is graded, and how its first source stands."""

HEADINGS = {"healthy": "All is well", "degraded": "Working, with worries", "down": "Not working"}


@pytest.mark.parametrize("name", STATES)
async def test_no_two_statements_of_health_contradict_each_other(name: str, sqlite_system: System) -> None:
    make, grade, standing = STATES[name]
    deps = deps_of(sqlite_system)
    await make(sqlite_system, deps)
    async for browser in browsing(sqlite_system, deps):
        await _agree_on_the_system(sqlite_system, browser, name, grade)
        for view in await deps.views.sources(NOON):
            await _agree_on_a_source(browser, view.name)
        if standing:
            [first, *_] = [each for each in await deps.views.sources(NOON) if each.id == 1]
            assert first.standing == standing


async def _agree_on_the_system(system: System, browser: Browser, name: str, grade: str) -> None:
    health = (await browser.get("/health")).json()
    status = (await browser.get("/status")).json()
    home = (await browser.page("/")).text
    doctor = await system.actions.doctor.examine()
    assert (health["status"], status["status"]) == (grade, grade), health["reasons"]
    assert health["reasons"] == status["reasons"]
    assert (health["reasons"] == []) is (grade == "healthy")
    assert HEADINGS[grade] in home
    assert [words for other, words in HEADINGS.items() if other != grade and words in home] == []
    of_work = [each for each in doctor if each.name.split()[0] not in {"database", "disk", "python", "extras", "clock"}]
    if name != "many errors":  # what this process met in the last minute is no matter of the tables
        assert (grade != "healthy") is any(each.level != "ok" for each in of_work), of_work
    waiting = sum(health["waiting"].values()) - health["waiting"]["calls"]
    assert health["waiting"] == status["waiting"]
    if waiting or any(words in " ".join(health["reasons"]) for words in ("fail", "yield")):
        assert "Nothing waits for you" not in home
    assert bool(waiting) is any(each.name == "waiting for a person" for each in doctor)
    assert "()" not in home
    assert all("health_status" not in each for each in health["scrapers"])


async def _agree_on_a_source(browser: Browser, name: str) -> None:
    quoted = name.replace(" ", "%20")
    view = next(each for each in (await browser.get("/api/v1/sources")).json()["items"] if each["name"] == name)
    why = (await browser.get(f"/api/v1/why/source:{quoted}")).json()
    page = (await browser.page(f"/sources/{quoted}")).text
    home = (await browser.page("/")).text
    blocked = [step for step in why["steps"] if step["ok"] is False]
    held = view["standing"] in {"off", "held back"}
    assert view["is_available"] is not held
    assert bool(view["reason"]) is held
    assert bool(blocked) is held, (view, blocked)
    assert why["verdict"].startswith("held back") is held
    title = re.search(r"<h1>(.*?)</h1>", page, re.DOTALL)
    assert title is not None
    assert f">{view['standing']}<" in title[1]
    assert f">{view['standing']}<" in home
    if view["standing"] in {"failing", "yields nothing", "empty", "new"}:
        assert why["verdict"].startswith(view["standing"])
    if view["standing"] not in {"well", "empty"}:
        assert "Reliability" not in page
    if held:
        assert not any("next dispatch takes it" in step["detail"] for step in why["steps"])


def test_the_matrix_covers_twenty_states_and_every_standing() -> None:
    assert len(STATES) >= 20
    assert {"well", "new", "off", "held back", "failing", "yields nothing", "empty"} <= {
        each[2] for each in STATES.values()
    }
