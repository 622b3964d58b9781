"""What a person can do with runs: start one now, and requeue stale jobs."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.admission import Rejection
from tidemill.core.audit import AuditEntry
from tidemill.core.checks.feed_settings import feeds_of
from tidemill.core.run import Trigger
from tidemill.core.source import Source
from tidemill.core.views import SourceDetail
from tidemill.operations.mistakes import Mistake, SwitchedOff
from tidemill.operations.sources import SourceActions
from tidemill.operations.targets import TargetActions
from tidemill.pipeline.dispatch import Dispatcher, DueTarget
from tidemill.pipeline.ports import Clock
from tidemill.store.ledger.scheduling import DispatchRepository
from tidemill.store.ledger.stale_jobs import StaleJobs
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views

MOST_STARTED = 200
"""So many sources are started by one request; the schedule is there for more."""
LONGEST_PACING_WAIT = timedelta(minutes=1)
"""A host that opens later than this asked for a longer pause, which manual runs respect too."""


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for a run.

    `rejected` targets were turned away for `reason`; come back after `retry_after_seconds`. `notes` say what a
    person should know, such as a breaker that makes the jobs wait.
    """

    run_ids: Sequence[int] = ()
    jobs: int = 0
    rejected: int = 0
    reason: str | None = None
    retry_after_seconds: float | None = None
    notes: Sequence[str] = ()


class RunActions:
    """Starts runs by hand; every action is audited."""

    def __init__(
        self,
        sources: SourceActions,
        targets: TargetActions,
        queue: DispatchRepository,
        dispatcher: Dispatcher,
        views: Views,
        stale_jobs: StaleJobs,
        audit: AuditLog,
        clock: Clock,
        *,
        wake: Callable[[int], None],
    ) -> None:
        """`wake` tells workers that there is work."""
        self._sources = sources
        self._targets = targets
        self._queue = queue
        self._dispatcher = dispatcher
        self._views = views
        self._stale_jobs = stale_jobs
        self._audit = audit
        self._clock = clock
        self._wake = wake

    async def start_source(self, which: str, actor: str) -> Started:
        """Scrape every target of a source that is switched on, now."""
        source = await self._sources.find(which)
        refuse_if_off(source)
        detail = await self._views.source(source.id, self._clock.now())
        if detail is None or detail.view.targets_on == 0:
            msg = f"source {source.name!r} has no targets that are switched on; see `tidemill targets list`"
            if feeds_of(source.adapter_settings):
                msg += f"; `tidemill targets feeds {source.name}` reads its feeds"
            raise Mistake(msg)
        due = await self._queue.of_source(source.id)
        return await self._start(due, detail, detail.view.targets_on, f"source {source.name}", actor)

    async def start_all(self, keys: Sequence[int], actor: str) -> tuple[Started, list[str]]:
        """Scrape every target of several sources now, and say which of them were left alone and why."""
        done, left = Started(), []
        for key in keys[:MOST_STARTED]:
            try:
                one = await self.start_source(str(key), actor)
            except Mistake as error:
                left.append(str(error))
                continue
            done = Started(
                run_ids=(*done.run_ids, *one.run_ids), jobs=done.jobs + one.jobs, rejected=done.rejected + one.rejected,
                reason=one.reason or done.reason, notes=(*done.notes, *one.notes),
            )  # fmt: skip
        if len(keys) > MOST_STARTED:
            left.append(f"{len(keys) - MOST_STARTED} more were not started: at most {MOST_STARTED} are at once")
        return done, left

    async def start_target(self, which: str, actor: str) -> Started:
        """Scrape one target, now."""
        target = await self._targets.find(which)
        source = await self._sources.find(str(target.source_id))
        refuse_if_off(source)
        if not target.enabled:
            msg = f"target {target.id} is switched off; `tidemill targets resume {target.id}` takes it up again"
            raise SwitchedOff(msg)
        detail = await self._views.source(source.id, self._clock.now())
        if detail is None:
            msg = f"source {source.name!r} was removed just now"
            raise Mistake(msg)
        return await self._start(await self._queue.of_targets([target.id]), detail, 1, f"target {target.url}", actor)

    async def requeue_stale(self, source: str | None, actor: str) -> int:
        """Requeue stale jobs of one source or of all, and return how many."""
        key = (await self._sources.find(source)).id if source is not None else None
        note = AuditEntry(actor, "jobs.requeue_stale", f"source {source}" if source else "all sources")
        opened = await self._stale_jobs.requeue(key, self._clock.now(), [note])
        self._dispatcher.announce_opened(opened)
        count = sum(run.jobs for run in opened)
        self._wake(count)
        return count

    async def _start(
        self, due: Sequence[DueTarget], source: SourceDetail, asked: int, subject: str, actor: str
    ) -> Started:
        now = self._clock.now()
        if wait := host_wait(source, now):
            return Started(rejected=asked, reason=Rejection.RATE_LIMITED, retry_after_seconds=wait.total_seconds())
        done, answer = await self._dispatcher.enqueue(due, Trigger.MANUAL)
        if answer.reason is Rejection.NOT_INSTALLED:
            msg = f"no installed package brings the vertical {source.view.vertical!r}, so its sources are not asked"
            raise SwitchedOff(msg)
        self._wake(done.workers)
        opened = await self._opened(source.view.id, now) if done.runs else []
        detail = {"jobs": done.jobs, "rejected": answer.rejected, "runs": opened}
        await self._audit.note([AuditEntry(actor, "run.start", subject, detail)], now)
        return Started(
            run_ids=opened,
            jobs=done.jobs,
            rejected=answer.rejected,
            reason=answer.reason,
            retry_after_seconds=answer.retry_after.total_seconds() if answer.retry_after else None,
            notes=notes_on(source, asked - len(due), now),
        )

    async def _opened(self, source_id: int, since: datetime) -> list[int]:
        newest = await self._views.runs(source_id, limit=5)
        return [run.id for run in newest if run.trigger == Trigger.MANUAL and run.started_at >= since]


def host_wait(source: SourceDetail, now: datetime) -> timedelta:
    """Return how long all hosts of a source are closed, if longer than ordinary pacing; else zero."""
    opens = min((host.opens_at for host in source.hosts), default=now)
    return opens - now if opens > now + LONGEST_PACING_WAIT else timedelta(0)


def refuse_if_off(source: Source) -> None:
    """Raise `SwitchedOff` for a source that is off: its jobs would only be refused later."""
    if not source.enabled or source.auto_disabled:
        who = "drift detection" if source.auto_disabled else "a person"
        msg = (
            f"source {source.name!r} was switched off by {who}; `tidemill sources enable {source.name}` switches it on"
        )
        raise SwitchedOff(msg)


def notes_on(source: SourceDetail, already_running: int, now: datetime) -> list[str]:
    """Return notes for a person who started a run."""
    notes = []
    if already_running > 0:
        notes.append(f"{already_running} targets are at work already and were left alone")
    breaker = source.breaker
    if breaker is not None and breaker.state == "OPEN" and breaker.cooldown_until and breaker.cooldown_until > now:
        until = f"{breaker.cooldown_until:%Y-%m-%d %H:%M} UTC"
        notes.append(
            f"the breaker is open until {until}, so the jobs wait until then; "
            f"`tidemill breaker reset {source.view.name}` closes it"
        )
    closed = (host for host in source.hosts if host.opens_at > now)
    notes += [f"host {host.host} may be asked again from {host.opens_at:%H:%M:%S} UTC on" for host in closed]
    return notes
