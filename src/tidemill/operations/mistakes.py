"""A person's mistakes, said so that they can be put right."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

LISTED = 8

Thing = TypeVar("Thing")


class Mistake(Exception):
    """What was asked cannot be done; the message says what to do instead."""


class NotFound(Mistake):
    """There is nothing by that name."""


class Conflict(Mistake):
    """What was asked contradicts how things stand: it is off, or there already."""


class SwitchedOff(Conflict):
    """What was asked for is switched off; the message says how to switch it on."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, with the nearest one there is, or all of them when they are few."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"unknown {kind} {name!r}; did you mean {near[0]!r}?"
    if not names:
        return f"unknown {kind} {name!r}; there is none yet"
    if len(names) <= LISTED:
        return f"unknown {kind} {name!r}; there is {', '.join(names)}"
    return f"unknown {kind} {name!r}"


def parse_key(kind: str, text: str) -> int:
    """The key that somebody typed."""
    if not text.isdecimal() or len(text) > len(str(2**63)) - 1:
        msg = f"a {kind} is named by its number, not by {text!r}"
        raise Mistake(msg)
    return int(text)


def require_found(found: Thing | None, kind: str, key: object) -> Thing:
    """The thing itself; a mistake that names it if there is none."""
    if found is None:
        msg = f"there is no {kind} {key}; it may have been removed, or let go by retention"
        raise NotFound(msg)
    return found
