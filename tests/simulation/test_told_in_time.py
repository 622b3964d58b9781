"""People are told in simulated weeks: nothing in a quiet month, a breaker while it is open, work that dies silently."""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.bootstrap.system import System
from tidemill.lab.simulation.plan import SimulationOutcome, SimulationPlan
from tidemill.lab.simulation.system_under_test import SimulatedEnvironment, SystemUnderTest
from tidemill.pipeline.happenings import BreakerMoved, Happening
from tidemill.verticals.events.lab.simulation import simulate_agendas

pytestmark = pytest.mark.shows("H7", "B2")

EVALUATED = timedelta(hours=1)


def unchanged(_: System) -> None:
    """Plant nothing."""


def simulated(
    folder: Path,
    plan: SimulationPlan,
    alter: Callable[[System], None] = unchanged,
    heard: list[Happening] | None = None,
    evaluated: timedelta = EVALUATED,
) -> SimulationOutcome:
    """Days in which alerts are evaluated, and what is announced is heard."""

    def build(environment: SimulatedEnvironment) -> SystemUnderTest:
        def announce(happening: Happening) -> None:
            if heard is not None:
                heard.append(happening)
            environment.announce(happening)

        hours = int(evaluated / timedelta(hours=1))
        changed = replace(environment, announce=announce, ticks={**environment.ticks, "alerts": f"every {hours}h"})
        return build_simulated_system(changed, alter)

    return simulate_agendas(plan, build, folder)


def rows(folder: Path, query: str) -> list[Any]:
    with sqlite3.connect(folder / "simulation.db") as connection:
        return connection.execute(query).fetchall()


def moment(micros: int | None) -> datetime | None:
    return None if micros is None else datetime.fromtimestamp(micros / 1e6, UTC)


def test_in_a_quiet_month_nobody_is_told_anything(tmp_path: Path) -> None:
    outcome = simulated(tmp_path, SimulationPlan(days=30, sources=1, seed=3, faults=()), evaluated=6 * EVALUATED)
    assert outcome.holds
    assert outcome.figures["runs"] > 9
    assert rows(tmp_path, "SELECT alert, cause, detail FROM incidents") == []
    evaluated = dict(rows(tmp_path, "SELECT status, COUNT(*) FROM tick_slots WHERE name = 'alerts' GROUP BY status"))
    assert set(evaluated) == {"ok"}
    assert evaluated["ok"] >= 50  # those of the last 14 days are kept


def test_a_breaker_is_told_of_while_it_is_open_and_by_one_incident(tmp_path: Path) -> None:
    heard: list[Happening] = []
    plan = SimulationPlan(days=4, sources=8, seed=3, faults=("outage", "server-error"))
    simulated(tmp_path, plan, heard=heard)
    names = dict(rows(tmp_path, "SELECT id, name FROM scraper_sources"))
    told = rows(tmp_path, "SELECT subjects, opened_at, closed_at FROM incidents WHERE alert = 'breaker_open'")
    spans = [(msgspec.json.decode(one[0]), moment(one[1]), moment(one[2])) for one in told]
    opened = [
        each for each in heard if isinstance(each, BreakerMoved) and (each.before, each.after) == ("CLOSED", "OPEN")
    ]
    assert len(opened) >= 2
    for each in opened:
        mine = [begin for names_told, begin, _ in spans if names[each.source_id] in names_told and begin]
        assert any(each.at <= begin <= each.at + EVALUATED + timedelta(minutes=1) for begin in mine), each
    closed = [each for each in heard if isinstance(each, BreakerMoved) and each.after == "CLOSED"]
    for each in closed:
        over = [end for names_told, _, end in spans if names[each.source_id] in names_told and end]
        assert any(each.at <= end <= each.at + EVALUATED + timedelta(minutes=1) for end in over), each


def dies_silently(system: System) -> None:
    """A piece of work begins and never comes to its end, as if its process had died each time."""

    async def never() -> str:
        await asyncio.Event().wait()
        return ""

    chore = system.ticks.chores["retry_letters"]
    system.ticks.chores["retry_letters"] = msgspec.structs.replace(chore, run=never)


def fails(system: System) -> None:
    async def broken() -> str:
        msg = "no such table"
        raise RuntimeError(msg)

    chore = system.ticks.chores["retry_letters"]
    system.ticks.chores["retry_letters"] = msgspec.structs.replace(chore, run=broken)


@pytest.mark.parametrize("alter", [dies_silently, fails])
def test_periodic_work_that_dies_before_it_writes_is_told_of(tmp_path: Path, alter: Callable[[System], None]) -> None:
    simulated(tmp_path, SimulationPlan(days=0.6, sources=1, seed=3, faults=()), alter)
    told = rows(tmp_path, "SELECT alert, severity, subjects, closed_at FROM incidents")
    assert [(each[0], each[1], each[3]) for each in told] == [("tick_silent", "P1", None)]
    assert "retry_letters" in msgspec.json.decode(told[0][2])
