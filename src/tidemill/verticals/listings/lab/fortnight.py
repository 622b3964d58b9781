"""Two weeks of a housing market in virtual time, judged by what was really there."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import msgspec

from tidemill.lab.dice import dice
from tidemill.lab.eventlog import EventLog
from tidemill.lab.laws import Verdict
from tidemill.lab.leash import Leash, LeashedClock
from tidemill.lab.system_under_test import Build, SimulatedEnvironment
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.verticals.listings.lab.sites import APIFY, TOKEN, entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.truth import examine
from tidemill.verticals.listings.lab.world import KINDS, SITES, HomesWorld, MarketFault, timetable

START = datetime(2026, 3, 2, tzinfo=UTC)
TICKS = {"dispatch": "every 30m", "rescue": "every 1h", "close_runs": "every 1h", "services": "every 1h"}
LEASE = timedelta(hours=2)
GRAIN = timedelta(seconds=1)


class HomesPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to simulate: which kinds of faults, and maybe a `siege`: one of them at every site at once.

    A siege is a kind of fault, the day on which it begins, and how many days it lasts.
    """

    days: float = 14
    seed: int = 7
    homes_each: int = 24
    faults: tuple[str, ...] = KINDS
    siege: tuple[str, float, float] | None = None


class HomesOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    plan: HomesPlan
    verdicts: tuple[Verdict, ...]
    figures: dict[str, int]
    log_lines: int
    log_sha256: str

    @property
    def holds(self) -> bool:
        """Whether every law held."""
        return all(verdict.holds for verdict in self.verdicts)


def simulate_homes(plan: HomesPlan, build: Build, folder: Path, log: BinaryIO | None = None) -> HomesOutcome:
    """Let the days pass in `folder`, which must be empty, and compare the repository with the world.

    Every happening is written to `log` if there is one: the same bytes for the same plan.
    """
    world = HomesWorld(plan.seed, START, plan.days, homes_each=plan.homes_each)

    events = EventLog(log)

    async def main(clock: VirtualClock) -> HomesTransport:
        return await _live(plan, world, build, folder, clock, events)

    transport = run_virtual(main, START)
    verdicts, figures = examine(world, troubles(plan, world), folder / "simulation.db")
    met = {f"fault met: {kind}": count for kind, count in sorted(transport.met.items())}
    visits = {f"requests to {host}": count for host, count in sorted(transport.visits.items())}
    return HomesOutcome(
        plan=plan,
        verdicts=verdicts,
        figures={"days": round(plan.days), **figures, **met, **visits},
        log_lines=events.lines,
        log_sha256=events.sha256,
    )


def troubles(plan: HomesPlan, world: HomesWorld) -> tuple[MarketFault, ...]:
    """The faults of this plan."""
    found = timetable(world, plan.faults)
    if plan.siege is None:
        return found
    kind, begins_on, lasts_days = plan.siege
    begins = START + timedelta(days=begins_on)
    ends = begins + timedelta(days=lasts_days)
    return (*found, *(MarketFault(kind, site, "", begins, ends) for site in (*SITES, APIFY)))


async def _live(
    plan: HomesPlan, world: HomesWorld, build: Build, folder: Path, clock: VirtualClock, events: EventLog
) -> HomesTransport:
    transport = HomesTransport(world, clock, troubles(plan, world))
    leash = Leash()
    mill = build(
        SimulatedEnvironment(
            folder=folder,
            clock=LeashedClock(clock, leash, START, GRAIN),
            dice=dice(plan.seed, "worker"),
            transport=transport,
            announce=events.write,
            leash=leash,
            ticks=TICKS,
            lease=LEASE,
            settings={"apify_token": TOKEN, "apify_url": f"https://{APIFY}"},
        )
    )
    await mill.prepare(entries())
    at_work = asyncio.create_task(mill.run(), name="worker")
    await clock.sleep_until(world.ends - GRAIN)
    mill.stop()
    await at_work
    await mill.close()
    return transport
