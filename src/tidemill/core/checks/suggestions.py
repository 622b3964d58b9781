"""One way to refuse what is not known: name it, and the nearest known name, or all of them when they are few."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_NAMES_LISTED = 12
LONGEST_NAME_SHOWN = 80


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message about an unknown name, with the nearest known one, or all of them when they are few."""
    names = sorted(map(str, known))
    shown = name if len(name) <= LONGEST_NAME_SHOWN else f"{name[:LONGEST_NAME_SHOWN]}…"
    near = get_close_matches(shown, names, n=1, cutoff=0.6) or _same_letters(shown, names)
    if near:
        return f"unknown {kind} {shown!r}; did you mean {near[0]!r}?"
    if not names:
        return f"unknown {kind} {shown!r}; there is none yet"
    if len(names) <= MAX_NAMES_LISTED:
        return f"unknown {kind} {shown!r}; there is {', '.join(names)}"
    return f"unknown {kind} {shown!r}"


def _same_letters(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ in case or in dashes only: `Success` for SUCCESS."""
    plain = name.lower().replace("-", "_")
    return [each for each in names if each.lower().replace("-", "_") == plain]
