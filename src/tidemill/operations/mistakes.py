"""A person's mistakes, with messages that say how to correct them."""

from typing import TypeVar

from tidemill.core.checks.suggestions import unknown_name

__all__ = ["Conflict", "Mistake", "NotFound", "SwitchedOff", "parse_key", "require_found", "unknown_name"]

Thing = TypeVar("Thing")


class Mistake(Exception):
    """What was asked cannot be done; the message says what to do instead."""


class NotFound(Mistake):
    """Nothing has that name or number."""


class Conflict(Mistake):
    """What was asked conflicts with the current state: it is switched off, or exists already."""


class SwitchedOff(Conflict):
    """What was asked for is switched off; the message says how to switch it on."""


def parse_key(kind: str, text: str) -> int:
    """Return the key that a person typed; raise `Mistake` if it is none."""
    if not text.isdecimal() or len(text) > len(str(2**63)) - 1:
        msg = f"a {kind} is named by its number, not by {text!r}"
        raise Mistake(msg)
    return int(text)


def require_found(found: Thing | None, kind: str, key: object) -> Thing:
    """Return what was found; raise `NotFound` with its name if it is None."""
    if found is None:
        msg = f"there is no {kind} {key}; it may have been removed, or let go by retention"
        raise NotFound(msg)
    return found
