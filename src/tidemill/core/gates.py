"""The gates that every request passes, in the order in which `why` explains them; each returns a `GateAnswer`.

Source on, compliance, target on, breaker, robots, pace, address guard. The first four are decided here; the others
are checked by the fetcher, which returns the same type.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.breaker import Breaker, Closed, Open, Probing
from tidemill.core.failure import Failure
from tidemill.core.policy import Policy
from tidemill.core.source import Source
from tidemill.core.target import Target

MANUAL_TRIGGER = "MANUAL"


class Gate(StrEnum):
    """The gates in order; the value is the name that people see."""

    SOURCE = "source on"
    COMPLIANCE = "compliance"
    TARGET = "target on"
    BREAKER = "breaker"
    ROBOTS = "robots"
    PACE = "pace"
    GUARD = "address guard"


class GateDecision(StrEnum):
    """Whether the request may go now, later, or not at all."""

    GO = "go"
    WAIT = "wait"
    NO = "no"


class GateAnswer(msgspec.Struct, frozen=True):
    """A gate's decision: its verdict, the reason in words, and for a wait the time until which it holds.

    `failure` is what the job ends with when the verdict is no.
    """

    gate: Gate
    verdict: GateDecision
    words: str
    until: datetime | None = None
    failure: Failure | None = None


def allow(gate: Gate, words: str) -> GateAnswer:
    """Return an answer that lets the request through."""
    return GateAnswer(gate, GateDecision.GO, words)


def hold_until(gate: Gate, words: str, until: datetime) -> GateAnswer:
    """Return an answer that holds the request back until a moment."""
    return GateAnswer(gate, GateDecision.WAIT, words, until, Failure.HELD_BACK)


def refuse(gate: Gate, words: str, failure: Failure) -> GateAnswer:
    """Return an answer that refuses the request."""
    return GateAnswer(gate, GateDecision.NO, words, None, failure)


_SOURCE_ON = allow(Gate.SOURCE, "switched on")
_TARGET_ON = allow(Gate.TARGET, "switched on")
_ALLOWED = allow(Gate.COMPLIANCE, "allowed; robots.txt is asked before every fetch")
_NOT_TIGHTENED = allow(Gate.COMPLIANCE, "its source's compliance is its own")


def source_on(source: Source) -> GateAnswer:
    """Check that the source is switched on."""
    if not source.enabled:
        return refuse(Gate.SOURCE, f"switched off by a person; {_turn_on(source)}", Failure.SOURCE_OFF)
    if source.auto_disabled:
        return refuse(Gate.SOURCE, f"switched off by drift detection; {_turn_on(source)}", Failure.SOURCE_OFF)
    return _SOURCE_ON


def _turn_on(source: Source) -> str:
    return f"`tidemill sources enable {source.name}` switches it on"


def compliance(source: Source, policy: Policy | None, *, is_manual: bool = False) -> GateAnswer:
    """Check that the source may be scraped at all: its terms of service and robots.txt, as people judged them."""
    if not source.robots_compliant:
        return refuse(Gate.COMPLIANCE, "a person marked it as not allowed by robots.txt", Failure.NOT_COMPLIANT)
    if source.tos_reviewed_at is not None and source.tos_approved_by is not None:
        return allow(Gate.COMPLIANCE, f"terms of service approved by {source.tos_approved_by}")
    if policy is not None and policy.needs_approval and not is_manual:
        words = f"nobody has approved its terms of service, which {source.vertical} sources need; manual runs still go"
        return refuse(Gate.COMPLIANCE, words, Failure.NOT_COMPLIANT)
    return _ALLOWED


def target_compliance(target: Target) -> GateAnswer:
    """Check the target's own compliance flag, which can only restrict what its source allows."""
    if target.robots_path_blocked:
        return refuse(Gate.COMPLIANCE, "a person marked its path as not allowed by robots.txt", Failure.NOT_COMPLIANT)
    return _NOT_TIGHTENED


def target_on(target: Target) -> GateAnswer:
    """Check that the target is switched on."""
    if not target.enabled:
        words = f"paused; `tidemill targets resume {target.id}` takes it up again"
        return refuse(Gate.TARGET, words, Failure.TARGET_OFF)
    return _TARGET_ON


def breaker_closed(breaker: Breaker, now: datetime) -> GateAnswer:
    """Check that the source's circuit breaker lets calls through."""
    match breaker:
        case Closed(failures=failures):
            return allow(Gate.BREAKER, f"closed, {failures} failures in a row")
        case Open(until=until, trips=trips) if until > now:
            return hold_until(Gate.BREAKER, f"open for the {trips}. time in a row; then one probe goes", until)
        case Probing(deadline=datetime() as deadline) if deadline > now:
            return hold_until(Gate.BREAKER, "a probe is out, and its answer decides", deadline)
        case _:
            return allow(Gate.BREAKER, "not trusted yet: one probe at a time may go, and its answer decides")


def switch_gates(source: Source, target: Target, policy: Policy | None, *, is_manual: bool) -> Sequence[GateAnswer]:
    """Return the answers of the gates that settings decide: source, compliance, target."""
    allowed = compliance(source, policy, is_manual=is_manual)
    if target.robots_path_blocked and allowed.verdict is GateDecision.GO:
        allowed = target_compliance(target)
    return (source_on(source), allowed, target_on(target))


def first_blocking(answers: Iterable[GateAnswer]) -> GateAnswer | None:
    """Return the first answer that does not let the request through."""
    return next((answer for answer in answers if answer.verdict is not GateDecision.GO), None)
