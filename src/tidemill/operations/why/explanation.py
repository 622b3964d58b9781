"""The form of an answer to `why`: the same words for the command line, the API and the portal."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec


class Step(msgspec.Struct, frozen=True):
    """One gate or finding. `ok` is None where there is nothing to pass, only something to know."""

    gate: str
    ok: bool | None
    detail: str


def passed(gate: str, detail: str) -> Step:
    """A gate that lets through."""
    return Step(gate, ok=True, detail=detail)


def stopped(gate: str, detail: str) -> Step:
    """A gate that holds back."""
    return Step(gate, ok=False, detail=detail)


def known(gate: str, detail: str) -> Step:
    """Something to know."""
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


def concluded(subject: str, steps: Sequence[Step], well: str) -> Explanation:
    """The first gate that says no is the verdict; if none does, `well` is."""
    stop = next((step for step in steps if step.ok is False), None)
    verdict = f"held back by {stop.gate}: {stop.detail}" if stop is not None else well
    return Explanation(subject, verdict, steps)


def at(moment: datetime) -> str:
    """A moment as people read it."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def away(moment: datetime, now: datetime) -> str:
    """A moment with how far it is from now."""
    gap = moment - now
    return f"{at(moment)} ({'in ' + span(gap) if gap > timedelta(0) else span(-gap) + ' ago'})"


def span(length: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = int(length.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
