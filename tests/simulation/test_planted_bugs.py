"""A simulation is worth what it finds: each kind of bug, planted on purpose, breaks the law that is there for it."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.bootstrap.system import System
from tidemill.core.pacing import Pace
from tidemill.core.run import RunSummary
from tidemill.core.source import FetcherKind
from tidemill.engine.periodic import Chore
from tidemill.fetching.robots import Allowed
from tidemill.lab.simulation.plan import SimulationPlan
from tidemill.pipeline.checkpoints import WriteCounts
from tidemill.store.ledger import checkpoints, claims, dead_letters
from tidemill.store.ledger.run_counts import count_kept
from tidemill.store.records.repository import CompleteRun
from tidemill.verticals.events.lab.simulation import simulate_agendas

pytestmark = pytest.mark.shows("X3")

Planting = Callable[[System], None]


def broken_laws(folder: Path, plan: SimulationPlan, plant: Planting = lambda _: None) -> set[str]:
    outcome = simulate_agendas(plan, lambda environment: build_simulated_system(environment, plant), folder)
    return {verdict.law for verdict in outcome.verdicts if not verdict.holds}


def a_quiet_world(*faults: str, days: float = 1.3, sources: int = 3) -> SimulationPlan:
    return SimulationPlan(days=days, sources=sources, seed=7, faults=faults)


def test_a_world_without_planted_bugs_breaks_no_law(tmp_path: Path) -> None:
    assert broken_laws(tmp_path, a_quiet_world("time-out", "forbidden", "frozen-worker", days=2.86, sources=4)) == set()


def test_a_shelf_that_drops_a_record_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        repository = system.store.ledger._checkpoints._repositories["events"]
        put = repository.put

        async def dropping(connection: Any, harvests: Any, now: Any) -> Any:
            fewer = [(job, msgspec.structs.replace(each, records=each.records[:-1])) for job, each in harvests]
            return await put(connection, fewer, now)

        repository.put = dropping

    assert "nothing is lost" in broken_laws(tmp_path, a_quiet_world(), plant)


def test_a_claim_that_hands_jobs_out_twice_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        claim = system.store.ledger.claim

        async def doubling(*arguments: Any) -> Any:
            return 2 * await claim(*arguments)

        system.store.ledger.claim = doubling

    assert "nothing is doubled" in broken_laws(tmp_path, a_quiet_world(), plant)


def test_a_commit_that_ignores_the_fence_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def everything(_connection: Any, batch: Any) -> dict[int, str]:
        return {each.claimed.job.id: each.claimed.job.stage for each in batch}

    monkeypatch.setattr(checkpoints, "held_jobs", everything)
    assert "nothing is doubled" in broken_laws(tmp_path, a_quiet_world("frozen-worker", days=2.2, sources=8))


def test_a_count_that_forgets_a_record_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = count_kept

    def forgetful(tally: Any, harvest: Any, kept: WriteCounts) -> None:
        count(tally, harvest, msgspec.structs.replace(kept, inserted=max(0, kept.inserted - 1)))

    monkeypatch.setattr(checkpoints, "count_kept", forgetful)
    assert broken_laws(tmp_path, a_quiet_world()) == {"every record is accounted for", "metrics equal tables"}


def test_a_dispatch_that_loses_a_target_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        due = system.store.agenda.due

        async def losing(*arguments: Any) -> Any:
            return [each for each in await due(*arguments) if not each.target.url.endswith("/muziek")]

        system.store.agenda.due = losing

    assert broken_laws(tmp_path, a_quiet_world(days=2), plant) == {"every target keeps its appointments"}


def test_a_run_that_nobody_closes_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        async def never(*_: Any) -> list[RunSummary]:
            return []

        system.store.ledger.runs.close_all = never

    assert broken_laws(tmp_path, a_quiet_world(), plant) == {"every job is accounted for"}


def test_a_queue_that_forgets_who_waits_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(*_: Any) -> None:
        return None

    monkeypatch.setattr(claims, "promote_waiting", nobody)
    assert "the queue drains after an outage" in broken_laws(tmp_path, a_quiet_world("outage", days=20 / 7, sources=6))


def test_a_run_book_that_fades_after_incomplete_runs_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        book = system.store.ledger.runs
        repository = book._repositories["events"]

        async def eager(connection: Any, ended: Any, now: Any) -> Any:
            over = [CompleteRun(each.run["id"], each.run["source_id"], each.run["started_at"]) for each in ended]
            return Counter(await repository.miss(connection, over, now, 2))

        book._fade = eager

    law = "nothing is removed on the word of an incomplete run"
    assert law in broken_laws(tmp_path, a_quiet_world("forbidden", days=3), plant)


def test_a_gate_that_ignores_the_pace_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        http: Any = system.fetchers[FetcherKind.HTTP]
        pacer = http._gates.pacer
        admit_now = pacer.admit_now
        hasty = Pace(timedelta(0), 9, 9)
        pacer.admit_now = lambda name, _pace, claim=None, *, is_visit=False: admit_now(
            name, hasty, claim, is_visit=is_visit
        )

    plan = SimulationPlan(days=0.3, sources=3, seed=7, faults=(), grain=timedelta(0))
    assert broken_laws(tmp_path, plan, plant) == {"no host is asked over its pace"}


def test_a_fetcher_that_asks_no_robots_txt_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        http: Any = system.fetchers[FetcherKind.HTTP]
        robots = http._gates.robots

        async def always(*_: Any) -> Allowed:
            return Allowed()

        robots.verdict_for = always
        robots.cached_verdict = lambda _: Allowed()

    assert broken_laws(tmp_path, a_quiet_world(days=0.3), plant) == {"nobody is asked without leave"}


def test_a_breaker_that_admits_everyone_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        async def everyone(*_: Any) -> None:
            return None

        system.tools.breakers.admit = everyone

    assert "breakers keep their law" in broken_laws(tmp_path, a_quiet_world("time-out", days=2), plant)


def test_a_retry_without_end_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.core.job.next_wait", lambda *_: timedelta(minutes=10))
    assert "attempts are bounded" in broken_laws(tmp_path, a_quiet_world("server-error", days=3))


def test_a_dead_letter_that_is_never_written_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        return None

    monkeypatch.setattr(dead_letters, "bury", nothing)
    assert broken_laws(tmp_path, a_quiet_world("forbidden", days=2)) == {"dead letters never vanish"}


def test_a_chore_that_fails_is_found(tmp_path: Path) -> None:
    def plant(system: System) -> None:
        async def fails() -> str:
            msg = "no such table"
            raise RuntimeError(msg)

        system.ticks.chores["proof"] = Chore("proof", system.ticks.chores["proof"].schedule, fails)

    assert broken_laws(tmp_path, a_quiet_world(days=0.5), plant) == {"periodic work goes well"}
