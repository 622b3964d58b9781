"""One way to refuse what is not known: name it, and the nearest known name, or all of them when they are few."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

MAX_NAMES_LISTED = 12
LONGEST_NAME_SHOWN = 80


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message about an unknown name, with the nearest known one, or all of them when they are few."""
    names = sorted(map(str, known))
    shown = name if len(name) <= LONGEST_NAME_SHOWN else f"{name[:LONGEST_NAME_SHOWN]}…"
    if near := _nearest(shown, names):
        return f"unknown {kind} {shown!r}; did you mean {near!r}?"
    if not names:
        return f"unknown {kind} {shown!r}; there is none yet"
    if len(names) <= MAX_NAMES_LISTED:
        return f"unknown {kind} {shown!r}; there is {', '.join(names)}"
    return f"unknown {kind} {shown!r}"


def _nearest(name: str, names: Iterable[str]) -> str:
    """Return the known name that is most like this one, case and dashes aside; '' if none is like it.

    Of several that are as near, one of the same letters comes first: `csv` for `cvs`.
    """
    plain = _plain(name)
    known = {_plain(each): each for each in names}
    close = get_close_matches(plain, known, n=3, cutoff=0.6)
    return known[max(close, key=lambda each: _likeness(plain, each))] if close else ""


def _likeness(name: str, other: str) -> tuple[float, bool]:
    return SequenceMatcher(None, other, name).ratio(), sorted(name) == sorted(other)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
