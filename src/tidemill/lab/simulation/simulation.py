"""The simulation: the real engine, store, stages and fetcher against a world of faults, in virtual time."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from tidemill.lab.dice import dice
from tidemill.lab.simulation.accidents import Accident, Crash, Freeze, Switch, accidents
from tidemill.lab.simulation.event_log import (
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
from tidemill.lab.simulation.figures import figures
from tidemill.lab.simulation.inspector import DatabaseInspector
from tidemill.lab.simulation.laws import FinishedSimulation
from tidemill.lab.simulation.past_answers import PastAnswers
from tidemill.lab.simulation.plan import Scenario, SimulationOutcome, SimulationPlan
from tidemill.lab.simulation.recorder import Recorder, RecordingTransport
from tidemill.lab.simulation.system_under_test import Build, SimulatedEnvironment, SystemUnderTest
from tidemill.lab.simulation.worker_control import ControlledClock, ControlledTransport, WorkerControl
from tidemill.lab.transport import LabTransport
from tidemill.lab.virtual import VirtualClock, run_virtual

TICKS = {
    "dispatch": "every 30m",
    "rescue": "every 1h",
    "close_runs": "every 6h",
    "retry_letters": "every 2h",
    "proof": "every 12h",
    "stale_jobs": "every 6h",
    "propose_repairs": "every 24h",
    "compact_pages": "every 24h",
    "notices": "every 24h",
}
"""Coarser rhythms than in production: virtual time costs nothing, but each tick costs its transactions."""
DISPATCH = timedelta(minutes=30)
LEASE = timedelta(hours=1)
BEFORE_PRUNING = 2  # o'clock in the night
LAST_MOMENT = timedelta(seconds=1)
"""How long before the end everybody stops: a run of the very last moment would be begun and not finished."""


class SimulatedWorker:
    """One worker and the control over it."""

    def __init__(self, number: int, system: SystemUnderTest, control: WorkerControl) -> None:
        """Not at work yet."""
        self.number = number
        self.system = system
        self.control = control
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Set it to work."""
        self.task = asyncio.create_task(self.system.run(), name=f"worker {self.number}")


class Simulation:
    """One world, its workers and its accidents."""

    def __init__(
        self, plan: SimulationPlan, scenario: Scenario, build: Build, folder: Path, clock: VirtualClock, log: EventLog
    ) -> None:
        """Nothing happens before `run`."""
        self._plan = plan
        self._scenario = scenario
        self._build = build
        self._folder = folder
        self._clock = clock
        self._world = scenario.world
        self._recorder = Recorder(log)
        self._ends = self._world.start + timedelta(days=plan.days)
        timers = ControlledClock(clock, WorkerControl(), self._world.start, plan.grain)
        self._transport = LabTransport(self._world, timers)
        self._started = 0
        self._workers: list[SimulatedWorker] = []
        self._inspector = DatabaseInspector(folder / "simulation.db", scenario.read_records)
        self.past = PastAnswers(scenario.lists, plan.moments, plan.seed, self._world.start, self._ends - LAST_MOMENT)

    async def run(self) -> None:
        """Let the days pass."""
        faults = tuple(self._plan.faults)
        self._recorder.note(
            SimulationBegan(self._world.start, self._plan.seed, self._plan.sources, self._plan.days, faults)
        )
        first = self._new_worker()
        await first.system.prepare(self._scenario.entries)
        self._start(first)
        watch = asyncio.create_task(self._inspect(), name="inspect")
        readers = asyncio.create_task(self.past.listen(self._clock, self._answer), name="readers")
        switches = [asyncio.create_task(self._cause(each), name="switch") for each in self._planned(Switch)]
        for accident in self._planned(Crash, Freeze):
            await self._cause(accident)
        await self._until(self._ends - LAST_MOMENT)
        for task in (watch, *switches):
            task.cancel()
        await asyncio.gather(watch, *switches, return_exceptions=True)
        await readers
        await self.past.compare(self._answer)
        for worker in list(self._workers):
            await self._stop(worker)
        self._inspector.check_before_pruning()

    def _planned(self, *kinds: type[Accident]) -> list[Accident]:
        planned = accidents(self._world, self._plan.days, self._plan.faults, lease=LEASE, rhythm=DISPATCH)
        return [accident for accident in planned if isinstance(accident, kinds) and accident.at < self._ends]

    def _new_worker(self) -> SimulatedWorker:
        """A new worker process, on the same database."""
        self._started += 1
        control = WorkerControl()
        clock = ControlledClock(self._clock, control, self._world.start, self._plan.grain)
        hosts = {origin: host for host, origin in self._world.origins.items()}
        recorded = RecordingTransport(self._transport, self._clock, self._recorder, hosts, self._started)
        system = self._build(
            SimulatedEnvironment(
                folder=self._folder,
                clock=clock,
                dice=dice(self._plan.seed, "worker", self._started),
                transport=ControlledTransport(recorded, control),
                announce=self._recorder.listener(lambda: control.is_dead),
                control=control,
                ticks={**TICKS, **self._scenario.ticks},
                lease=LEASE,
                vertical=self._scenario.vertical,
            )
        )
        return SimulatedWorker(self._started, system, control)

    def _start(self, worker: SimulatedWorker) -> None:
        self._workers.append(worker)
        self._recorder.note(WorkerStarted(self._clock.now(), worker.number))
        worker.start()

    async def _cause(self, accident: Accident) -> None:
        await self._until(accident.at)
        match accident:
            case Crash():
                await self._crash(accident)
            case Freeze():
                await self._freeze(accident)
            case Switch():
                await self._switch(accident)

    async def _until_busy(self, into: timedelta) -> None:
        """Wait for the next run, and a little way into it: then jobs are under way."""
        await self._recorder.next_run()
        await self._until(self._clock.now() + into)

    async def _crash(self, accident: Crash) -> None:
        await self._until_busy(accident.into)
        worker = self._workers[0]
        self._recorder.note(WorkerKilled(self._clock.now(), worker.number))
        worker.control.kill()
        await self._remove(worker)
        await self._until(self._clock.now() + accident.after)
        self._start(self._new_worker())

    async def _freeze(self, accident: Freeze) -> None:
        await self._until_busy(accident.into)
        worker = self._workers[0]
        self._recorder.note(WorkerFrozen(self._clock.now(), worker.number))
        worker.control.freeze()
        relief = self._new_worker()
        self._start(relief)
        await self._until(self._clock.now() + accident.lasts)
        self._recorder.note(WorkerThawed(self._clock.now(), worker.number))
        worker.control.thaw()
        await self._until(self._clock.now() + accident.relieved)
        await self._stop(relief)

    async def _switch(self, accident: Switch) -> None:
        name = accident.host.removesuffix(".test")
        for on, moment in ((False, accident.at), (True, accident.at + accident.lasts)):
            await self._until(moment)
            await self._steady().system.switch(name, on=on)
            self._recorder.note(SourceSwitched(self._clock.now(), accident.host, on))

    async def _answer(self, address: str, as_of: datetime | None) -> list[dict[str, Any]] | None:
        """Ask a worker that is well; None if there is none, or if it is killed over it."""
        well = next((worker for worker in self._workers if not worker.control.is_frozen), None)
        if well is None:
            return None
        try:
            return await well.system.answer(address, as_of)
        except asyncio.CancelledError:
            if well.control.is_dead:
                return None
            raise

    def _steady(self) -> SimulatedWorker:
        """A worker that is neither dead nor frozen, or the next best."""
        return next((worker for worker in self._workers if not worker.control.is_frozen), self._workers[0])

    async def _stop(self, worker: SimulatedWorker) -> None:
        """Stop a worker in good order."""
        worker.system.stop()
        await self._remove(worker, wait=True)
        self._recorder.note(WorkerStopped(self._clock.now(), worker.number))

    async def _remove(self, worker: SimulatedWorker, *, wait: bool = False) -> None:
        self._workers.remove(worker)
        if worker.task is not None:
            if not wait:
                worker.task.cancel()
            await asyncio.wait([worker.task])
            self._recorder.note_cut_off()
            error = None if worker.task.cancelled() else worker.task.exception()
            if error is not None:
                told = f"{type(error).__name__}: {error}"
                self._recorder.note(WorkerFell(self._clock.now(), worker.number, told))
        await worker.system.close()

    async def _inspect(self) -> None:
        """Look into the database every hour, and more closely before each night's pruning."""
        moment = self._world.start
        while True:
            moment += timedelta(hours=1)
            await self._until(moment)
            self._inspector.sample_open_jobs(moment)
            if moment.hour == BEFORE_PRUNING:
                self._inspector.check_before_pruning()

    def finished(self) -> FinishedSimulation:
        """Return what the laws are judged by."""
        return FinishedSimulation(
            self._world, self._recorder, self._inspector.rows(), self._inspector, self._scenario.entries, self._ends,
            self._scenario.noun,
        )  # fmt: skip

    async def _until(self, moment: datetime) -> None:
        await self._clock.sleep_until(moment)


def simulate(
    plan: SimulationPlan, scenario: Scenario, build: Build, folder: Path, log: BinaryIO | None = None
) -> SimulationOutcome:
    """Run a scenario in `folder`, which must be empty, and judge it by every law."""
    events = EventLog(log)

    async def main(clock: VirtualClock) -> Simulation:
        simulation = Simulation(plan, scenario, build, folder, clock, events)
        await simulation.run()
        return simulation

    simulation = run_virtual(main, scenario.world.start)
    finished = simulation.finished()
    verdicts = tuple(law(finished) for law in scenario.laws)
    if plan.moments:
        verdicts = (*verdicts, simulation.past.verdict())
    return SimulationOutcome(
        plan=plan,
        verdicts=verdicts,
        figures={"days": round(plan.days), **figures(finished)},
        log_lines=events.lines,
        log_sha256=events.sha256,
    )
