"""Explains why a source or a target is fetched or not: every gate, in order."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.core import gates
from tidemill.core.health.sources import SourceStanding
from tidemill.core.pacing import has_own_pace
from tidemill.core.schedules import format_duration
from tidemill.core.target import TargetStatus
from tidemill.core.vertical import Vertical
from tidemill.core.views import (
    AdapterView,
    BreakerView,
    HostView,
    JobView,
    RunView,
    SourceDetail,
    TargetDetail,
)
from tidemill.operations.runs import LONGEST_PACING_WAIT
from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    explanation_of,
    format_moment,
    format_relative,
    info_step,
    passing_step,
)

OPEN_STATES = ("leased", "ready", "waiting")


def why_source(detail: SourceDetail, vertical: Vertical | None, now: datetime) -> Explanation:
    """Explain a source: its gates, hosts, schedule and last run."""
    steps = [
        *source_gates(detail, vertical),
        _targets_on(detail),
        *(_adapter_of_source(adapter, detail) for adapter in detail.adapters),
        breaker_gate(detail.breaker, now),
        *(host_gate(host, now) for host in detail.hosts if host.opens_at > now),
        _queue(detail, now),
    ]
    steps = [
        *steps,
        due_gate(detail.due_at, now, is_held_back=any(step.ok is False for step in steps)),
        *last_run(detail.runs),
        *_dead_letters(detail),
        *_upgrade(detail),
    ]
    return explanation_of(f"source {detail.view.name}", steps, _verdict(detail, now))


def _adapter_of_source(adapter: AdapterView, detail: SourceDetail) -> Step:
    """Return whether an adapter is on; one of several that is off holds back its own targets only."""
    step = adapter_gate(adapter)
    return step if step.ok or detail.view.targets_read == 0 else info_step(step.gate, step.detail)


def _verdict(detail: SourceDetail, now: datetime) -> str:
    """Return how a source stands that nothing holds back; one that yields nothing is never called well."""
    view, schedule = detail.view, _schedule(detail, now)
    if view.standing is SourceStanding.WELL:
        return f"{schedule}; {view.standing_reason}" if view.standing_reason else schedule
    return f"{view.standing}: {view.standing_reason}; {schedule}"


def _schedule(detail: SourceDetail, now: datetime) -> str:
    if detail.jobs.get("leased"):
        return "it is being scraped"
    if detail.jobs.get("ready"):
        opens = min((host.opens_at for host in detail.hosts), default=now)
        rests = opens > now + LONGEST_PACING_WAIT
        return f"its jobs wait until {format_relative(opens, now)}: its host rests" if rests else "its jobs are ready"
    if detail.jobs.get("waiting"):
        until = f" until {format_relative(detail.waits_until, now)}" if detail.waits_until else ""
        return f"its jobs wait{until}"
    if detail.due_at is not None:
        return f"nothing holds it back; it is due {format_relative(detail.due_at, now)}"
    return "nothing holds it back"


def source_gates(detail: SourceDetail, vertical: Vertical | None) -> list[Step]:
    """Return the steps of the gates that settings decide: switched on, and allowed."""
    source = detail.source
    on = step_of(gates.source_on(msgspec.structs.replace(source, auto_disabled=False)))
    drift = blocking_step("drift", gates.source_on(source).words) if source.enabled and source.auto_disabled else None
    drift = drift or passing_step("drift", "not switched off by drift")
    if vertical is None:
        words = f"no installed package brings {source.vertical!r}; its jobs wait until one does"
        return [blocking_step("vertical", words), on, drift]
    return [on, drift, step_of(gates.compliance(source, vertical.policy))]


def step_of(answer: gates.GateAnswer) -> Step:
    """Return a gate's answer as a step."""
    return Step(answer.gate.value, answer.verdict is gates.GateDecision.GO, answer.words)


def _targets_on(detail: SourceDetail) -> Step:
    on, every = detail.view.targets_on, detail.view.targets
    if every == 0:
        words = f"it has no targets; `tidemill targets add {detail.view.name} URL` adds one"
        return blocking_step("targets on", words)
    if 0 < on <= detail.view.targets_barred:
        return blocking_step("targets on", f"all {on} targets that are on are marked as not allowed by robots.txt")
    return Step("targets on", on > 0, f"{on} of {every} targets are switched on")


def adapter_gate(adapter: AdapterView) -> Step:
    """Return whether the adapter is on."""
    if adapter.enabled:
        return passing_step("adapter on", f"{adapter.adapter_id} is on")
    by = f" by {adapter.disabled_by}" if adapter.disabled_by else ""
    reason = f" ({adapter.disabled_reason})" if adapter.disabled_reason else ""
    words = f"{adapter.adapter_id} was switched off{by}{reason}; `tidemill adapters enable {adapter.adapter_id}`"
    return blocking_step("adapter on", words)


def breaker_gate(breaker: BreakerView | None, now: datetime) -> Step:
    """Return whether the circuit breaker lets calls through."""
    if breaker is None or breaker.state == "CLOSED":
        failures = breaker.failure_count if breaker is not None else 0
        return passing_step("breaker", f"closed, {failures} failures in a row")
    if breaker.state == "OPEN" and breaker.cooldown_until is not None and breaker.cooldown_until > now:
        until = format_relative(breaker.cooldown_until, now)
        words = (
            f"open for the {breaker.consecutive_opens}. time in a row until {until}; "
            f"then one probe goes; `tidemill breaker reset {breaker.source_name}` closes it now"
        )
        return blocking_step("breaker", words)
    return passing_step("breaker", "not trusted yet: one probe at a time may go, and its answer decides")


def host_gate(host: HostView, now: datetime) -> Step:
    """Return whether the host's rate limit allows a request now."""
    pace = f"one request per {host.interval_ms / 1000:g} s, {host.parallel} at a time"
    if host.crawl_delay_ms:
        pace += f", Crawl-delay {host.crawl_delay_ms / 1000:g} s"
    if has_own_pace(host.host):
        pace += ", counted apart from its domain"
    if host.opens_at <= now:
        return passing_step("host", f"{host.host} may be asked now ({pace})")
    return info_step("host", f"{host.host} may be asked again {format_relative(host.opens_at, now)} ({pace})")


def _queue(detail: SourceDetail, now: datetime) -> Step:
    until = f"; the first goes on at {format_relative(detail.waits_until, now)}" if detail.waits_until else ""
    found = [f"{count} {state}" for state in OPEN_STATES if (count := detail.jobs.get(state))]
    return info_step("queue", f"jobs: {', '.join(found)}{until}" if found else "no job is open")


def due_gate(due_at: datetime | None, now: datetime, *, is_held_back: bool = False) -> Step:
    """Return when it is due next; what is held back is not taken, however long it has been due."""
    if due_at is None:
        return info_step("schedule", "no target has a due time")
    if due_at <= now and is_held_back:
        return info_step("schedule", f"due since {format_relative(due_at, now)}; taken when nothing holds it back")
    if due_at <= now:
        return passing_step("schedule", f"due since {format_relative(due_at, now)}; the next dispatch takes it")
    return info_step("schedule", f"next due {format_relative(due_at, now)}")


def last_run(runs: Sequence[RunView]) -> list[Step]:
    """Return how the last run went, and the doubts about its completeness."""
    if not runs:
        return [info_step("last run", "it has never run")]
    run = runs[0]
    words = (
        f"run {run.id} ({run.trigger.lower()}, {format_moment(run.started_at)}): {run.status.lower()}, "
        f"{run.urls_succeeded} of {run.urls_attempted} pages, {run.records_accepted} records accepted"
    )
    doubts = [info_step("doubt", f"run {run.id} was not complete: {doubt}") for doubt in run.doubts or ()]
    return [info_step("last run", words), *doubts]


def _dead_letters(detail: SourceDetail) -> list[Step]:
    pending = detail.letters.get("pending", 0)
    if not pending:
        return []
    words = f"{pending} dead letters wait; `tidemill dlq list --source {detail.view.name}` shows them"
    return [info_step("dead letters", words)]


def _upgrade(detail: SourceDetail) -> list[Step]:
    """Return the suggested fetcher, if another one got pages that its own did not."""
    found, name = detail.upgrade, detail.view.name
    if found is None or found.status != "pending":
        return []
    words = (
        f"{found.fetcher} got {found.times} pages that {detail.view.fetcher} did not ({found.reason}); "
        f"`tidemill sources accept-upgrade {name}` lets it from now on, `dismiss-upgrade` leaves it"
    )
    return [info_step("suggested fetcher", words)]


def why_target(detail: TargetDetail, vertical: Vertical | None, now: datetime) -> Explanation:
    """Explain a target: its source's gates, its own, its host and its last job."""
    view = detail.view
    adapter = detail.adapter or AdapterView(adapter_id=view.adapter_id)
    steps = [
        *source_gates(detail.source, vertical),
        *_target_gates(detail),
        _known_adapter(view.adapter_id, vertical),
        adapter_gate(adapter),
        breaker_gate(detail.source.breaker, now),
        *([host_gate(detail.host, now)] if detail.host is not None else []),
        *_open_job(detail.jobs, now),
    ]
    is_held_back = any(step.ok is False for step in steps)
    steps = [*steps, due_gate(view.next_due_at, now, is_held_back=is_held_back), *_last_job(detail)]
    open_job = next((job for job in detail.jobs if job.status in OPEN_STATES), None)
    well = f"job {open_job.id} is {open_job.status}" if open_job else "nothing holds it back"
    if not open_job and view.next_due_at is not None:
        well += f"; it is due {format_relative(view.next_due_at, now)}"
    return explanation_of(f"target {view.id} {view.url}", steps, well)


def _target_gates(detail: TargetDetail) -> list[Step]:
    view = detail.view
    resume = f"`tidemill targets resume {view.id}` takes it up again"
    steps = [step_of(gates.target_on(detail.target))]
    if view.status == TargetStatus.BROKEN:
        words = f"broken: failed {view.consecutive_failures} times in a row, looked at once a week; {resume}"
        steps.append(blocking_step("target health", words))
    elif view.consecutive_failures:
        steps.append(info_step("target health", f"failed {view.consecutive_failures} times in a row"))
    if view.robots_path_blocked:
        steps.append(step_of(gates.target_compliance(detail.target)))
    return steps


def _known_adapter(adapter_id: str, vertical: Vertical | None) -> Step:
    adapter = vertical.adapters.get(adapter_id) if vertical is not None else None
    if adapter is None:
        return blocking_step("adapter", f"there is no adapter {adapter_id!r} in this version")
    return passing_step("adapter", f"read by {adapter.id} {adapter.version}")


def _open_job(jobs: Sequence[JobView], now: datetime) -> list[Step]:
    job = next((job for job in jobs if job.status in OPEN_STATES), None)
    if job is None:
        return [info_step("queue", "no job is open")]
    waits = f" until {format_relative(job.not_before, now)}" if job.not_before else ""
    reason = f": {job.error}" if job.error else ""
    return [info_step("queue", f"job {job.id} is {job.status} at {job.stage}{waits}{reason}")]


def _last_job(detail: TargetDetail) -> list[Step]:
    ended = next((job for job in detail.jobs if job.completed_at is not None), None)
    if ended is None or ended.completed_at is None:
        return [info_step("last job", "it has never been scraped")]
    took = f" after {format_duration(ended.completed_at - ended.created_at)}"
    failed = f": {ended.failure} ({ended.error})" if ended.failure else ""
    return [
        info_step(
            "last job", f"job {ended.id} ended {ended.status} at {format_moment(ended.completed_at)}{took}{failed}"
        )
    ]
