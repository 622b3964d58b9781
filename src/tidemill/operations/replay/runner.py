"""Running a replay: portion by portion, each kept before the next is read, within a share of the processor."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from tidemill.core.replay.certificates import moved_certificate
from tidemill.core.replay.gate import GateThresholds, proves_nothing, reasons_to_hold
from tidemill.core.replay.report import MovedCertificate, ReplayReport, ReportTally, encode_report
from tidemill.core.replay.views import ChangeStatus, ReplayScope, ReplayStatus, ReplayView
from tidemill.operations.mistakes import require_found
from tidemill.operations.replay.page_replay import PageReplayer, Progress
from tidemill.pipeline.ports import Clock
from tidemill.store.replays.inputs import ReplayInput, ReplayInputs
from tidemill.store.replays.replays import FilledPage, ReplayRepository

PORTION = 100
"""Pages whose results are kept in one transaction: what a killed replay reads once more at most."""
IN_HAND = 24
"""Pages that are with the readers at once: enough to keep them busy, few enough that jobs get their turn."""
MOST_CERTIFICATES = 100
"""Certificates that a report lists."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class ReplayRunner:
    """Reads the pages of a replay and writes its report; a replay that was interrupted goes on where it was.

    `cpu_share` is the share of time in which it reads; it rests for the remainder of it after each portion.
    """

    inputs: ReplayInputs
    repository: ReplayRepository
    pages: PageReplayer
    clock: Clock
    thresholds: GateThresholds
    cpu_share: float

    async def run(self, replay_id: int, progress: Progress = no_progress) -> ReplayView:
        """Read what has not been read yet, then write the report."""
        view = require_found(await self.repository.find(replay_id), "replay", replay_id)
        if view.status is ReplayStatus.DONE:
            return view
        done, busy = view.pages_done, 0.0
        progress(done, view.pages_total)
        while portion := await self.inputs.portion(replay_id, PORTION):
            started = self.clock.now()
            await self.repository.fill(replay_id, await self._read(portion, view.scope))
            spent = (self.clock.now() - started).total_seconds()
            done, busy = done + len(portion), busy + spent
            progress(done, view.pages_total)
            await self._rest(started, spent)
        cost = _cost(done - view.pages_done, busy)
        await self._end(view, cost)
        return require_found(await self.repository.find(replay_id), "replay", replay_id)

    async def report(self, view: ReplayView) -> ReplayReport:
        """Add a replay's pages up; the same pages give the same report."""
        tally = ReportTally()
        async for _, page in self.repository.walk(view.id):
            tally.add(page)
        certificates: list[MovedCertificate] = []
        async for run in self.repository.runs_of(view.id):
            moved = moved_certificate(run.run_id, run.source, run.row, run.pages)
            if moved is not None and len(certificates) < MOST_CERTIFICATES:
                certificates.append(moved)
        asked = msgspec.structs.replace(view.scope, since=None, until=None)  # when it was asked for is in the listing
        return tally.report(msgspec.to_builtins(asked), certificates)

    async def _end(self, view: ReplayView, cost: dict[str, float]) -> None:
        report = await self.report(view)
        is_first = not view.pages_total and not await self.inputs.were_read(view.scope)
        held = reasons_to_hold(report, self.thresholds, is_first=is_first)
        change = _outcome(view.change, report, held)
        encoded = encode_report(report)
        digest = hashlib.sha256(encoded).hexdigest()
        await self.repository.end(view.id, encoded, digest, change, held, cost, self.clock.now())

    async def _read(self, portion: Sequence[ReplayInput], scope: ReplayScope) -> list[FilledPage]:
        free = asyncio.Semaphore(IN_HAND)

        async def read(one: ReplayInput) -> FilledPage:
            async with free:
                return await self.pages.replay(one, scope)

        return list(await asyncio.gather(*(read(one) for one in portion)))

    async def _rest(self, started: datetime, spent: float) -> None:
        if self.cpu_share < 1:
            await self.clock.sleep_until(started + timedelta(seconds=spent / self.cpu_share))


def _outcome(change: ChangeStatus, report: ReplayReport, held: Sequence[str]) -> ChangeStatus:
    """Return what a replay's report makes of a change at the gate, or of what somebody asked for."""
    if change is ChangeStatus.CHECKING:
        return ChangeStatus.WAITING if held else ChangeStatus.PASSED
    if change not in {ChangeStatus.UNPROVEN, ChangeStatus.PROVEN}:
        return change
    if proves_nothing(report):
        return ChangeStatus.UNPROVEN
    return ChangeStatus.DOUBTFUL if held else ChangeStatus.PROVEN


def _cost(pages: int, seconds: float) -> dict[str, float]:
    if not pages:
        return {}
    return {"pages": pages, "seconds": round(seconds, 3), "milliseconds_a_page": round(1_000 * seconds / pages, 3)}
