"""Explanations: the result of `why`, shared by the command line, the API and the portal."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from tidemill.core.schedules import format_duration


class Step(msgspec.Struct, frozen=True):
    """One gate or finding. `ok` is None where there is nothing to pass, only something to know."""

    gate: str
    ok: bool | None
    detail: str


def passing_step(gate: str, detail: str) -> Step:
    """Return the step of a gate that lets through."""
    return Step(gate, ok=True, detail=detail)


def blocking_step(gate: str, detail: str) -> Step:
    """Return the step of a gate that blocks."""
    return Step(gate, ok=False, detail=detail)


def info_step(gate: str, detail: str) -> Step:
    """Return a step that only informs."""
    return Step(gate, ok=None, detail=detail)


class Explanation(msgspec.Struct, frozen=True):
    """Why a thing is as it is: the verdict in a sentence, and every step that leads to it."""

    subject: str
    verdict: str
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains one kind of subject by its name; a vertical adds its own.

    `forms` says how people write such a subject: `event:ID or event:ID.FIELD`. Records are listed before the other
    things that a vertical can explain.
    """

    kind: str
    forms: str
    explain: Callable[[str], Awaitable[Explanation]]
    is_record: bool = False


def explanation_of(subject: str, steps: Sequence[Step], otherwise: str) -> Explanation:
    """Return an explanation whose verdict is the first blocking step, or `otherwise` if none blocks."""
    stop = next((step for step in steps if step.ok is False), None)
    verdict = f"held back by {stop.gate}: {stop.detail}" if stop is not None else otherwise
    return Explanation(subject, verdict, steps)


def format_moment(moment: datetime) -> str:
    """Return a moment as text, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def format_relative(moment: datetime, now: datetime) -> str:
    """Return a moment as text, with its distance from now."""
    gap = moment - now
    distance = f"in {format_duration(gap)}" if gap > timedelta(0) else f"{format_duration(-gap)} ago"
    return f"{format_moment(moment)} ({distance})"
