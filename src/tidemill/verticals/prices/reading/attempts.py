"""Steps that may fail on hostile markup: the others still get their turn, and the failure is noted."""

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
Notes = tuple[str, ...]
"""What went wrong while a page was read, in order."""


def attempt(step: Callable[[], Value], otherwise: Value) -> tuple[Value, Notes]:
    """The step's result and no notes; or the fallback, with a note about the error."""
    try:
        return step(), ()
    except Exception as error:  # noqa: BLE001 - whatever a strategy trips over, the others get their turn
        return otherwise, (f"{type(error).__name__}: {error}"[:200],)
