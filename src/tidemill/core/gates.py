"""The gates that every request passes, in the order in which `why` explains them; each answers with a value.

Source on, compliance, target on, breaker, robots, pace, address guard. The first four are decided here; the others
are asked by the fetcher, which answers in the same form.
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

BY_HAND = "MANUAL"


class Gate(StrEnum):
    """Each gate by the name that people see, in order."""

    SOURCE = "source on"
    COMPLIANCE = "compliance"
    TARGET = "target on"
    BREAKER = "breaker"
    ROBOTS = "robots"
    PACE = "pace"
    GUARD = "address guard"


class GateDecision(StrEnum):
    """What a gate can say."""

    GO = "go"
    WAIT = "wait"
    NO = "no"


class GateAnswer(msgspec.Struct, frozen=True):
    """What one gate said: its verdict, the reason in words, and the moment from which it may say otherwise.

    `failure` is what a job ends with when the gate says no.
    """

    gate: Gate
    verdict: GateDecision
    words: str
    until: datetime | None = None
    failure: Failure | None = None


def go(gate: Gate, words: str) -> GateAnswer:
    """The gate lets through."""
    return GateAnswer(gate, GateDecision.GO, words)


def wait(gate: Gate, words: str, until: datetime) -> GateAnswer:
    """The gate lets nobody through before a moment."""
    return GateAnswer(gate, GateDecision.WAIT, words, until, Failure.HELD_BACK)


def no(gate: Gate, words: str, failure: Failure) -> GateAnswer:
    """The gate lets nobody through."""
    return GateAnswer(gate, GateDecision.NO, words, None, failure)


_SOURCE_ON = go(Gate.SOURCE, "switched on")
_TARGET_ON = go(Gate.TARGET, "switched on")
_ALLOWED = go(Gate.COMPLIANCE, "allowed; robots.txt is asked before every fetch")
_NOT_TIGHTENED = go(Gate.COMPLIANCE, "its source's compliance is its own")


def source_on(source: Source) -> GateAnswer:
    """Whether the source is switched on."""
    if not source.enabled:
        return no(Gate.SOURCE, f"switched off by a person; {_turn_on(source)}", Failure.SOURCE_OFF)
    if source.auto_disabled:
        return no(Gate.SOURCE, f"switched off by drift detection; {_turn_on(source)}", Failure.SOURCE_OFF)
    return _SOURCE_ON


def _turn_on(source: Source) -> str:
    return f"`tidemill sources enable {source.name}` switches it on"


def compliance(source: Source, policy: Policy | None, *, by_hand: bool = False) -> GateAnswer:
    """Whether we may ask the source at all: its terms of service and robots.txt, as people judged them."""
    if not source.robots_compliant:
        return no(Gate.COMPLIANCE, "a person marked it as not allowed by robots.txt", Failure.NOT_COMPLIANT)
    if source.tos_reviewed_at is not None and source.tos_approved_by is not None:
        return go(Gate.COMPLIANCE, f"terms of service approved by {source.tos_approved_by}")
    if policy is not None and policy.needs_approval and not by_hand:
        words = f"nobody has approved its terms of service, which {source.vertical} sources need; manual runs still go"
        return no(Gate.COMPLIANCE, words, Failure.NOT_COMPLIANT)
    return _ALLOWED


def target_compliance(target: Target) -> GateAnswer:
    """What a target adds to its source's compliance: it can tighten, never loosen."""
    if target.robots_path_blocked:
        return no(Gate.COMPLIANCE, "a person marked its path as not allowed by robots.txt", Failure.NOT_COMPLIANT)
    return _NOT_TIGHTENED


def target_on(target: Target) -> GateAnswer:
    """Whether the target is switched on."""
    if not target.enabled:
        words = f"paused; `tidemill targets resume {target.id}` takes it up again"
        return no(Gate.TARGET, words, Failure.TARGET_OFF)
    return _TARGET_ON


def breaker_closed(breaker: Breaker, now: datetime) -> GateAnswer:
    """Whether the source's circuit breaker lets calls through."""
    match breaker:
        case Closed(failures=failures):
            return go(Gate.BREAKER, f"closed, {failures} failures in a row")
        case Open(until=until, trips=trips) if until > now:
            return wait(Gate.BREAKER, f"open for the {trips}. time in a row; then one probe goes", until)
        case Probing(deadline=datetime() as deadline) if deadline > now:
            return wait(Gate.BREAKER, "a probe is out, and its answer decides", deadline)
        case _:
            return go(Gate.BREAKER, "not trusted yet: one probe at a time may go, and its answer decides")


def standing_gates(source: Source, target: Target, policy: Policy | None, *, by_hand: bool) -> Sequence[GateAnswer]:
    """What the switches say, in order: source, compliance, target."""
    allowed = compliance(source, policy, by_hand=by_hand)
    if target.robots_path_blocked and allowed.verdict is GateDecision.GO:
        allowed = target_compliance(target)
    return (source_on(source), allowed, target_on(target))


def first_against(answers: Iterable[GateAnswer]) -> GateAnswer | None:
    """The first gate that does not let through."""
    return next((answer for answer in answers if answer.verdict is not GateDecision.GO), None)
