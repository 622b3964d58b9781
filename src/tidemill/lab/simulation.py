"""The simulation: the real engine, store, stages and fetcher against a world of faults, in virtual time."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from tidemill.lab.accidents import ACCIDENTS, Accident, Crash, Freeze, Switch, accidents
from tidemill.lab.books import Auditor
from tidemill.lab.dice import dice
from tidemill.lab.eventlog import (
    EventLog,
    SimulationBegan,
    SourceSwitched,
    WorkerFell,
    WorkerFrozen,
    WorkerKilled,
    WorkerStarted,
    WorkerStopped,
    WorkerThawed,
)
from tidemill.lab.faults import ALL_KINDS
from tidemill.lab.figures import figures
from tidemill.lab.laws import Case, Verdict, judge
from tidemill.lab.leash import Leash, LeashedClock, LeashedTransport
from tidemill.lab.system_under_test import Build, SimulatedEnvironment, SystemUnderTest
from tidemill.lab.transport import LabTransport
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.lab.witness import Witness, WitnessedTransport
from tidemill.verticals.events.lab.sources import DAILY, sources
from tidemill.verticals.events.lab.world import World, build_world

EVERYTHING = (*ALL_KINDS, *ACCIDENTS)
TICKS = {
    "dispatch": "every 30m",
    "rescue": "every 1h",
    "close_runs": "every 6h",
    "retry_letters": "every 2h",
    "proof": "every 12h",
    "stale_jobs": "every 6h",
    "publish_events": "every 24h",
    "propose_repairs": "every 24h",
    "compact_pages": "every 24h",
    **dict.fromkeys(("markets", "freshness", "market_proof", "notices"), "every 24h"),
}
"""Coarser rhythms than in production: virtual time costs nothing, but each tick costs its transactions."""
RHYTHMS = (DAILY, "every 96h", "adaptive 48h-144h", "every 96h", "adaptive 48h-144h")
DISPATCH = timedelta(minutes=30)
LEASE = timedelta(hours=2)
BEFORE_PRUNING = 2  # o'clock in the night
LAST_MOMENT = timedelta(seconds=1)
"""How long before the end everybody stops: a run of the very last moment would be begun and not seen through."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to simulate. `grain` is the coarseness of timers; zero makes them exact."""

    days: float = 30
    sources: int = 200
    seed: int = 7
    faults: tuple[str, ...] = EVERYTHING
    grain: timedelta = timedelta(seconds=1)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    plan: Plan
    verdicts: tuple[Verdict, ...]
    figures: dict[str, int]
    log_lines: int
    log_sha256: str

    @property
    def holds(self) -> bool:
        """Whether every law held."""
        return all(verdict.holds for verdict in self.verdicts)


class SimulatedWorker:
    """One worker with everything that holds it."""

    def __init__(self, number: int, mill: SystemUnderTest, leash: Leash) -> None:
        """Not at work yet."""
        self.number = number
        self.mill = mill
        self.leash = leash
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Set it to work."""
        self.task = asyncio.create_task(self.mill.run(), name=f"worker {self.number}")


class Simulation:
    """One world, its workers and its accidents."""

    def __init__(self, plan: Plan, build: Build, folder: Path, clock: VirtualClock, log: EventLog) -> None:
        """Nothing happens before `run`."""
        self._plan = plan
        self._build = build
        self._folder = folder
        self._clock = clock
        self.world = _world(plan)
        self.witness = Witness(log)
        self.ends = self.world.start + timedelta(days=plan.days)
        self._timers = LeashedClock(clock, Leash(), self.world.start, plan.grain)
        self._transport = LabTransport(self.world, self._timers)
        self.entries = _entries(self.world)
        self._hired = 0
        self._hands: list[SimulatedWorker] = []
        self.auditor = Auditor(self._folder / "simulation.db")

    async def run(self) -> None:
        """Let the days pass."""
        faults = tuple(self._plan.faults)
        self.witness.note(
            SimulationBegan(self.world.start, self._plan.seed, self._plan.sources, self._plan.days, faults)
        )
        first = self._hire()
        await first.mill.prepare(self.entries)
        self._start(first)
        watch = asyncio.create_task(self._audit(), name="audit")
        switches = [asyncio.create_task(self._befall(each), name="switch") for each in self._planned(Switch)]
        for accident in self._planned(Crash, Freeze):
            await self._befall(accident)
        await self._until(self.ends - LAST_MOMENT)
        for task in (watch, *switches):
            task.cancel()
        await asyncio.gather(watch, *switches, return_exceptions=True)
        for hand in list(self._hands):
            await self._retire(hand)
        self.auditor.look()

    def _planned(self, *kinds: type[Accident]) -> list[Accident]:
        planned = accidents(self.world, self._plan.days, self._plan.faults, lease=LEASE, rhythm=DISPATCH)
        return [accident for accident in planned if isinstance(accident, kinds) and accident.at < self.ends]

    def _hire(self) -> SimulatedWorker:
        """A new worker process, on the same database."""
        self._hired += 1
        leash = Leash()
        clock = LeashedClock(self._clock, leash, self.world.start, self._plan.grain)
        by_origin = {site.origin: site for site in self.world.sites.values()}
        seen = WitnessedTransport(self._transport, self._clock, self.witness, by_origin, self._hired)
        mill = self._build(
            SimulatedEnvironment(
                folder=self._folder,
                clock=clock,
                dice=dice(self._plan.seed, "worker", self._hired),
                transport=LeashedTransport(seen, leash),
                announce=self.witness.listener(lambda: leash.is_dead),
                leash=leash,
                ticks=TICKS,
                lease=LEASE,
            )
        )
        return SimulatedWorker(self._hired, mill, leash)

    def _start(self, hand: SimulatedWorker) -> None:
        self._hands.append(hand)
        self.witness.note(WorkerStarted(self._clock.now(), hand.number))
        hand.start()

    async def _befall(self, accident: Accident) -> None:
        await self._until(accident.at)
        match accident:
            case Crash():
                await self._crash(accident)
            case Freeze():
                await self._freeze(accident)
            case Switch():
                await self._switch(accident)

    async def _rush(self, into: timedelta) -> None:
        """Wait for the next run, and a little way into it: then hands are full."""
        await self.witness.next_run()
        await self._until(self._clock.now() + into)

    async def _crash(self, accident: Crash) -> None:
        await self._rush(accident.into)
        hand = self._hands[0]
        self.witness.note(WorkerKilled(self._clock.now(), hand.number))
        hand.leash.kill()
        await self._bury(hand)
        await self._until(self._clock.now() + accident.after)
        self._start(self._hire())

    async def _freeze(self, accident: Freeze) -> None:
        await self._rush(accident.into)
        hand = self._hands[0]
        self.witness.note(WorkerFrozen(self._clock.now(), hand.number))
        hand.leash.freeze()
        relief = self._hire()
        self._start(relief)
        await self._until(self._clock.now() + accident.lasts)
        self.witness.note(WorkerThawed(self._clock.now(), hand.number))
        hand.leash.thaw()
        await self._until(self._clock.now() + accident.relieved)
        await self._retire(relief)

    async def _switch(self, accident: Switch) -> None:
        name = accident.host.removesuffix(".test")
        for on, moment in ((False, accident.at), (True, accident.at + accident.lasts)):
            await self._until(moment)
            await self._steady().mill.switch(name, on=on)
            self.witness.note(SourceSwitched(self._clock.now(), accident.host, on))

    def _steady(self) -> SimulatedWorker:
        """A worker that is neither dead nor frozen, or the next best."""
        return next((hand for hand in self._hands if not hand.leash.is_frozen), self._hands[0])

    async def _retire(self, hand: SimulatedWorker) -> None:
        """Stop a worker in good order."""
        hand.mill.stop()
        await self._bury(hand, wait=True)
        self.witness.note(WorkerStopped(self._clock.now(), hand.number))

    async def _bury(self, hand: SimulatedWorker, *, wait: bool = False) -> None:
        self._hands.remove(hand)
        if hand.task is not None:
            if not wait:
                hand.task.cancel()
            await asyncio.wait([hand.task])
            self.witness.note_cut_off()
            error = None if hand.task.cancelled() else hand.task.exception()
            if error is not None:
                told = f"{type(error).__name__}: {error}"
                self.witness.note(WorkerFell(self._clock.now(), hand.number, told))
        await hand.mill.close()

    async def _audit(self) -> None:
        """Glance into the books every hour, and look well before each night's pruning."""
        moment = self.world.start
        while True:
            moment += timedelta(hours=1)
            await self._until(moment)
            self.auditor.glance(moment)
            if moment.hour == BEFORE_PRUNING:
                self.auditor.look()

    async def _until(self, moment: datetime) -> None:
        await self._clock.sleep_until(moment)


def simulate(plan: Plan, build: Build, folder: Path, log: BinaryIO | None = None) -> Outcome:
    """Run a simulation in `folder`, which must be empty, and judge it by every law."""
    events = EventLog(log)

    async def main(clock: VirtualClock) -> Simulation:
        simulation = Simulation(plan, build, folder, clock, events)
        await simulation.run()
        return simulation

    done = run_virtual(main, build_world(plan.seed, 0).start)
    case = Case(done.world, done.witness, done.auditor.books(), done.auditor, done.entries, done.ends)
    return Outcome(
        plan=plan,
        verdicts=judge(case),
        figures={"days": round(plan.days), **figures(case)},
        log_lines=events.lines,
        log_sha256=events.sha256,
    )


def _world(plan: Plan) -> World:
    kinds = [kind for kind in plan.faults if kind in ALL_KINDS]
    return build_world(
        plan.seed, plan.sources, kinds=kinds, days=plan.days, furniture=False, compression=False
    )  # fmt: skip


def _entries(world: World) -> list[dict[str, Any]]:
    """The sites as sources, on the rhythms that people use; every third may be asked two at a time."""
    entries = sources(world)
    for number, entry in enumerate(entries):
        for target in entry["targets"]:
            target["schedule"] = RHYTHMS[number // 2 % len(RHYTHMS)]
        if number % 3 == 0:
            entry["pace"] = {"interval_seconds": 2.0, "burst": 2, "parallel": 2}
    return entries
