"""Two weeks of a housing market in virtual time, judged by what was really there."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import msgspec

from tidemill.lab.dice import dice
from tidemill.lab.simulation.choice import SimulationChoice, SimulationTerms
from tidemill.lab.simulation.event_log import EventLog
from tidemill.lab.simulation.past_answers import PastAnswers
from tidemill.lab.simulation.plan import SimulationOutcome
from tidemill.lab.simulation.system_under_test import Build, SimulatedEnvironment
from tidemill.lab.simulation.worker_control import ControlledClock, WorkerControl
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.verticals.listings.lab.sites import APIFY, TOKEN, entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.truth import examine
from tidemill.verticals.listings.lab.world import KINDS, SITES, HomesWorld, MarketFault, timetable

START = datetime(2026, 3, 2, tzinfo=UTC)
TICKS = {"dispatch": "every 30m", "rescue": "every 1h", "close_runs": "every 1h", "services": "every 1h"}
LEASE = timedelta(hours=1)
GRAIN = timedelta(seconds=1)
LISTS = {"/api/v1/listings?limit=500": ("last_seen_at", "times_seen", "verified_at")}
"""What readers ask for, with the fields that the past does not know."""


class HomesPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to simulate: which kinds of faults, and maybe a `siege`: one of them at every site at once.

    A siege is a kind of fault, the day on which it begins, and how many days it lasts. At so many random `moments`
    readers ask for homes, and the past is held against their answers at the end.
    """

    days: float = 14
    seed: int = 7
    homes_each: int = 24
    faults: tuple[str, ...] = KINDS
    siege: tuple[str, float, float] | None = None
    moments: int = 0


def simulate_homes(plan: HomesPlan, build: Build, folder: Path, log: BinaryIO | None = None) -> SimulationOutcome:
    """Let the days pass in `folder`, which must be empty, and compare the tables with the world.

    Every happening is written to `log` if there is one: the same bytes for the same plan.
    """
    world = HomesWorld(plan.seed, START, plan.days, homes_each=plan.homes_each)

    events = EventLog(log)

    async def main(clock: VirtualClock) -> HomesTransport:
        return await _run(plan, world, build, folder, clock, events, past)

    past = PastAnswers(LISTS, plan.moments, plan.seed, START, world.ends - GRAIN)
    transport = run_virtual(main, START)
    verdicts, figures = examine(world, troubles(plan, world), folder / "simulation.db")
    met = {f"fault met: {kind}": count for kind, count in sorted(transport.met.items())}
    visits = {f"requests to {host}": count for host, count in sorted(transport.visits.items())}
    return SimulationOutcome(
        plan=plan,
        verdicts=(*verdicts, past.verdict()) if plan.moments else verdicts,
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


async def _run(
    plan: HomesPlan,
    world: HomesWorld,
    build: Build,
    folder: Path,
    clock: VirtualClock,
    events: EventLog,
    past: PastAnswers,
) -> HomesTransport:
    transport = HomesTransport(world, clock, troubles(plan, world))
    control = WorkerControl()
    system = build(
        SimulatedEnvironment(
            folder=folder,
            clock=ControlledClock(clock, control, START, GRAIN),
            dice=dice(plan.seed, "worker"),
            transport=transport,
            announce=events.write,
            control=control,
            ticks=TICKS,
            lease=LEASE,
            vertical="listings",
            settings={"apify_token": TOKEN, "apify_url": f"https://{APIFY}"},
        )
    )
    await system.prepare(entries())
    at_work = asyncio.create_task(system.run(), name="worker")
    reading = asyncio.create_task(past.listen(clock, system.answer), name="readers")
    await clock.sleep_until(world.ends - GRAIN)
    system.stop()
    await asyncio.gather(at_work, reading)
    await past.compare(system.answer)
    await system.close()
    return transport


def run(terms: SimulationTerms, build: Build, folder: Path, log: BinaryIO | None) -> SimulationOutcome:
    """Simulate what a person asked for."""
    return simulate_homes(
        HomesPlan(days=terms.days, seed=terms.seed, faults=terms.faults, moments=terms.moments), build, folder, log
    )


FORTNIGHT = SimulationChoice(
    name="homes",
    about="listings of 19 cities that come and go",
    faults=KINDS,
    subject=lambda _: "the homes of 19 cities",
    run=run,
)
