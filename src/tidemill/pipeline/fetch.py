"""Fetch: check every gate, fetch the page, and tell an unchanged one from a new one."""

import msgspec

from tidemill.core.breaker import Closed
from tidemill.core.failure import Failure
from tidemill.core.gates import MANUAL_TRIGGER, Gate, GateAnswer, breaker_closed, first_blocking, refuse, switch_gates
from tidemill.core.job import Job
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.page import Page
from tidemill.core.retry import timeout_after
from tidemill.core.urls import leads_elsewhere
from tidemill.core.vertical import Adapter, Vertical, fetcher_for
from tidemill.pipeline.checkpoints import Claimed, Fetched, ServedFromStore, Unchanged
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.ports import FetchRequest, FetchResult

EVIDENCE_BYTES = 256_000
"""How much of a failed response is stored for diagnosis."""


_WAITS = frozenset({Failure.HELD_BACK, Failure.OUT_OF_QUOTA})
"""Failures that spend no attempt when it is known when to retry."""


async def fetch(claimed: Claimed, deps: StageDependencies) -> Outcome:
    """Fetch the job's page if every gate allows it; a gate's no is a refusal or a snooze, never a failure."""
    vertical = deps.verticals.get(claimed.job.vertical)
    if vertical is None or adapter_of(claimed, vertical) is None:
        return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {claimed.target.adapter_id!r} for {claimed.job.vertical!r}")
    if claimed.adapter_off:
        return Fail(Failure.ADAPTER_OFF, claimed.adapter_off)
    if refusal := refusal_of(claimed, vertical):
        return refusal
    if not isinstance(claimed.breaker, Closed):
        until = await deps.breakers.admit(claimed.source.id, deps.clock.now())
        if until is not None:
            return Snooze(until, "the source's breaker is open")
    request = request_for(claimed, vertical, deps)
    kind = fetcher_for(claimed.source, adapter_of(claimed, vertical))
    result = await deps.fetchers[kind].fetch(request)
    if deps.fallback is not None:
        result = await deps.fallback.apply(claimed, request, result, vertical.policy)
    return with_degraded_services(outcome_of(claimed, result, deps), result, deps)


def with_degraded_services(outcome: Outcome, result: FetchResult, deps: StageDependencies) -> Outcome:
    """Return the outcome with the services that were unavailable, so that its run is marked."""
    missed = result.degraded + deps.services.degraded_for_all_runs()
    return msgspec.structs.replace(outcome, degraded=missed) if missed else outcome


def adapter_of(claimed: Claimed, vertical: Vertical) -> Adapter | None:
    """Return the adapter that will read the page."""
    return vertical.adapters.get(claimed.target.adapter_id)


def refusal_of(claimed: Claimed, vertical: Vertical) -> Fail | None:
    """Return the refusal if the source or target is switched off or not compliant."""
    is_manual = claimed.job.trigger == MANUAL_TRIGGER
    blocking = first_blocking(switch_gates(claimed.source, claimed.target, vertical.policy, is_manual=is_manual))
    if blocking is None:
        return None
    return Fail(blocking.failure or Failure.SOURCE_OFF, f"{blocking.gate}: {blocking.words}")


async def recheck_gates(claimed: Claimed, vertical: Vertical, deps: StageDependencies) -> GateAnswer | None:
    """Check the gates again just before the request is sent; return the one that blocks, or None.

    If the breaker was not closed at the claim, this request is its one probe, so the breaker is not checked again.
    """
    present = await deps.source_states.current(claimed.source.id, claimed.target.id)
    if present is None:
        return refuse(Gate.TARGET, "its source or target was removed", Failure.TARGET_OFF)
    is_manual = claimed.job.trigger == MANUAL_TRIGGER
    answers = [*switch_gates(present.source, present.target, vertical.policy, is_manual=is_manual)]
    if isinstance(claimed.breaker, Closed):
        answers.append(breaker_closed(present.breaker, deps.clock.now()))
    return first_blocking(answers)


def request_for(claimed: Claimed, vertical: Vertical, deps: StageDependencies) -> FetchRequest:
    """Return the request on the source's terms; conditional only if the same adapter read the last good page."""
    source, target, policy = claimed.source, claimed.target, vertical.policy
    same_reader = target.good_reader is not None and target.good_reader == reader_of(claimed, vertical)
    return FetchRequest(
        url=claimed.job.url.partition("#")[0],
        host=claimed.job.host,
        pace=claimed.pace,
        timeout=timeout_after(source.timeout or policy.timeout, claimed.job.attempts),
        max_bytes=policy.max_page_bytes,
        headers=source.headers,
        etag=target.etag if same_reader else "",
        last_modified=target.last_modified if same_reader else "",
        booked_until=claimed.booked_until,
        holds_lease=lambda: deps.is_current_worker(claimed.worker_id),
        recheck=lambda: recheck_gates(claimed, vertical, deps),
        job_id=claimed.job.id,
        attempt=claimed.job.attempts,
        options=source.adapter_settings,
        parameters=target.parameters,
        keep_open=claimed.keep_open,
    )


def reader_of(claimed: Claimed, vertical: Vertical) -> str:
    """Return the adapter and version that read the page, so that a new version reads old pages again."""
    adapter = adapter_of(claimed, vertical)
    return f"{adapter.id}@{adapter.version}" if adapter else ""


def outcome_of(claimed: Claimed, result: FetchResult, deps: StageDependencies) -> Outcome:
    """Return the outcome for a fetch result."""
    if result.stored is not None:
        return Advance(Stage.COMPLETED, ServedFromStore(page_from(result, deps), result), from_stored_page=True)
    if (snooze := snooze_of(result, deps)) is not None:
        return snooze
    if result.failure is not None:
        kept = shortened_evidence(result)
        evidence = Fetched(page_from(kept, deps), kept)
        return Fail(result.failure, result.error, result.retry_after, evidence=evidence)
    page = as_asked(page_from(result, deps), claimed.job)
    if is_unchanged(claimed, result, deps.verticals[claimed.job.vertical]):
        return Advance(Stage.COMPLETED, Unchanged(page, result))
    if result.not_modified:
        return Fail(Failure.SERVER_ERROR, "answered 'not modified' to a question that was not conditional")
    return Advance(Stage.PARSE, Fetched(page, result))


def as_asked(page: Page, job: Job) -> Page:
    """Return the page under the job's own address: what stands behind its `#` says how the page is to be read."""
    return msgspec.structs.replace(page, url=job.url) if "#" in job.url else page


def snooze_of(result: FetchResult, deps: StageDependencies) -> Snooze | None:
    """Return the snooze if the result only means to wait, else None."""
    if result.failure is Failure.WORKER_DIED:
        return Snooze(deps.clock.now(), result.error)
    if result.retry_at is None:
        return None
    if result.failure is Failure.ROBOTS_DISALLOWED:
        is_own = not leads_elsewhere(result.url, result.final_url)
        return Snooze(result.retry_at, result.error or "robots.txt cannot be read", whole_host=is_own)
    return Snooze(result.retry_at, result.error) if result.failure in _WAITS else None


def shortened_evidence(result: FetchResult) -> FetchResult:
    """Return a failed result with at most `EVIDENCE_BYTES` of its body."""
    if len(result.wire_body) <= EVIDENCE_BYTES:
        return result
    start = result.body[:EVIDENCE_BYTES]
    return msgspec.structs.replace(result, body=start, wire_body=start, content_encoding="")


def is_unchanged(claimed: Claimed, result: FetchResult, vertical: Vertical) -> bool:
    """Return whether the page equals the target's last good page and is read by the same adapter."""
    target = claimed.target
    if target.good_page_id is None or target.good_reader != reader_of(claimed, vertical):
        return False
    return result.not_modified or result.digest == target.good_digest


def page_from(result: FetchResult, deps: StageDependencies) -> Page:
    """Return the page as it will be stored."""
    return Page(
        id=deps.keys.take(),
        url=result.url,
        final_url=result.final_url or result.url,
        status_code=result.status_code,
        body=result.body,
        charset=result.charset,
        content_type=result.content_type,
        digest=result.digest,
        fetched_at=result.requested_at or deps.clock.now(),
        etag=result.headers.get("etag", ""),
        last_modified=result.headers.get("last-modified", ""),
    )
