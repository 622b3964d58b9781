"""Fetch: ask every gate, bring the page, and tell an unchanged one from a new one."""

import msgspec

from tidemill.core.breaker import Closed
from tidemill.core.failure import Failure
from tidemill.core.gates import MANUAL_TRIGGER, Gate, GateAnswer, breaker_closed, first_blocking, refuse, switch_gates
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.page import Page
from tidemill.core.retry import timeout_after
from tidemill.core.vertical import Adapter, Vertical, fetcher_for
from tidemill.pipeline.checkpoints import Claimed, Fetched, Served, Unchanged
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.ports import FetchRequest, FetchResult

EVIDENCE_BYTES = 256_000
"""How much of a failed answer is stored for whoever looks."""


_WAITS = frozenset({Failure.HELD_BACK, Failure.OUT_OF_QUOTA})
"""What is nobody's fault and spends no attempt, when it is known when to come back."""


async def fetch(claimed: Claimed, tools: StageDependencies) -> Outcome:
    """Bring the job's page, if every gate says yes; a no is a refusal or a snooze, never a failure."""
    vertical = tools.verticals.get(claimed.job.vertical)
    if vertical is None or adapter_of(claimed, vertical) is None:
        return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {claimed.target.adapter_id!r} for {claimed.job.vertical!r}")
    if claimed.adapter_off:
        return Fail(Failure.ADAPTER_OFF, claimed.adapter_off)
    if refusal := refusal_of(claimed, vertical):
        return refusal
    if not isinstance(claimed.breaker, Closed):
        until = await tools.breakers.admit(claimed.source.id, tools.clock.now())
        if until is not None:
            return Snooze(until, "the source's breaker is open")
    request = request_for(claimed, vertical, tools)
    kind = fetcher_for(claimed.source, adapter_of(claimed, vertical))
    result = await tools.fetchers[kind].fetch(request)
    if tools.fallback is not None:
        result = await tools.fallback.after(claimed, request, result, vertical.policy)
    return marked(outcome_of(claimed, result, tools), result, tools)


def marked(outcome: Outcome, result: FetchResult, tools: StageDependencies) -> Outcome:
    """The answer with the services that the fetch had to do without, so that its run says so."""
    missed = result.degraded + tools.services.weighing_on_all()
    return msgspec.structs.replace(outcome, degraded=missed) if missed else outcome


def adapter_of(claimed: Claimed, vertical: Vertical) -> Adapter | None:
    """The adapter that will read the page."""
    return vertical.adapters.get(claimed.target.adapter_id)


def refusal_of(claimed: Claimed, vertical: Vertical) -> Fail | None:
    """Why we may not ask at all: switched off, or not compliant."""
    by_hand = claimed.job.trigger == MANUAL_TRIGGER
    against = first_blocking(switch_gates(claimed.source, claimed.target, vertical.policy, is_manual=by_hand))
    if against is None:
        return None
    return Fail(against.failure or Failure.SOURCE_OFF, f"{against.gate}: {against.words}")


async def recheck_gates(claimed: Claimed, vertical: Vertical, tools: StageDependencies) -> GateAnswer | None:
    """Which gate would hold the request back by now, asked again as it leaves; None when none would.

    A source that was not trusted at the claim has its one probe out, and this is it: its breaker is not asked again.
    """
    present = await tools.standing.look(claimed.source.id, claimed.target.id)
    if present is None:
        return refuse(Gate.TARGET, "its source or target was removed", Failure.TARGET_OFF)
    by_hand = claimed.job.trigger == MANUAL_TRIGGER
    answers = [*switch_gates(present.source, present.target, vertical.policy, is_manual=by_hand)]
    if isinstance(claimed.breaker, Closed):
        answers.append(breaker_closed(present.breaker, tools.clock.now()))
    return first_blocking(answers)


def request_for(claimed: Claimed, vertical: Vertical, tools: StageDependencies) -> FetchRequest:
    """The request on the source's terms; conditional only when the last good page was read by today's adapter."""
    source, target, policy = claimed.source, claimed.target, vertical.policy
    same_reader = target.good_reader is not None and target.good_reader == reader_of(claimed, vertical)
    return FetchRequest(
        url=claimed.job.url,
        host=claimed.job.host,
        pace=claimed.pace,
        timeout=timeout_after(source.timeout or policy.timeout, claimed.job.attempts),
        max_bytes=policy.max_page_bytes,
        headers=source.headers,
        etag=target.etag if same_reader else "",
        last_modified=target.last_modified if same_reader else "",
        booked_until=claimed.booked_until,
        is_ours=lambda: tools.holds(claimed.worker_id),
        recheck=lambda: recheck_gates(claimed, vertical, tools),
        job_id=claimed.job.id,
        attempt=claimed.job.attempts,
        options=source.adapter_settings,
        parameters=target.parameters,
    )


def reader_of(claimed: Claimed, vertical: Vertical) -> str:
    """Who reads the page: adapter and version, so that a new version reads old pages anew."""
    adapter = adapter_of(claimed, vertical)
    return f"{adapter.id}@{adapter.version}" if adapter else ""


def outcome_of(claimed: Claimed, result: FetchResult, tools: StageDependencies) -> Outcome:
    """What the answer means for the job."""
    if result.stored is not None:
        return Advance(Stage.COMPLETED, Served(page_from(result, tools), result), from_stored_page=True)
    if (wait := wait_of(result, tools)) is not None:
        return wait
    if result.failure is not None:
        kept = as_evidence(result)
        evidence = Fetched(page_from(kept, tools), kept)
        return Fail(result.failure, result.error, result.retry_after, evidence=evidence)
    page = page_from(result, tools)
    if is_unchanged(claimed, result, tools.verticals[claimed.job.vertical]):
        return Advance(Stage.COMPLETED, Unchanged(page, result))
    if result.not_modified:
        return Fail(Failure.SERVER_ERROR, "answered 'not modified' to a question that was not conditional")
    return Advance(Stage.PARSE, Fetched(page, result))


def wait_of(result: FetchResult, tools: StageDependencies) -> Snooze | None:
    """Until when the job is put off, if nothing more than that has happened."""
    if result.failure is Failure.WORKER_DIED:
        return Snooze(tools.clock.now(), result.error)
    if result.retry_at is None:
        return None
    if result.failure is Failure.ROBOTS_DISALLOWED:
        return Snooze(result.retry_at, result.error or "robots.txt cannot be read", whole_host=True)
    return Snooze(result.retry_at, result.error) if result.failure in _WAITS else None


def as_evidence(result: FetchResult) -> FetchResult:
    """A failed answer as it is worth keeping: its beginning shows what it was, ten megabytes of it show no more."""
    if len(result.wire_body) <= EVIDENCE_BYTES:
        return result
    start = result.body[:EVIDENCE_BYTES]
    return msgspec.structs.replace(result, body=start, wire_body=start, content_encoding="")


def is_unchanged(claimed: Claimed, result: FetchResult, vertical: Vertical) -> bool:
    """Whether the page is what it was when it last went all the way, read by the same adapter."""
    target = claimed.target
    if target.good_page_id is None or target.good_reader != reader_of(claimed, vertical):
        return False
    return result.not_modified or result.digest == target.good_digest


def page_from(result: FetchResult, tools: StageDependencies) -> Page:
    """The page as it will be stored."""
    return Page(
        id=tools.keys.take(),
        url=result.url,
        final_url=result.final_url or result.url,
        status_code=result.status_code,
        body=result.body,
        charset=result.charset,
        content_type=result.content_type,
        digest=result.digest,
        fetched_at=result.requested_at or tools.clock.now(),
        etag=result.headers.get("etag", ""),
        last_modified=result.headers.get("last-modified", ""),
    )
