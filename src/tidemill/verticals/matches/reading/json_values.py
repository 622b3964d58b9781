"""Values of JSON by the names that sites use for them, and in the forms that sites write them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.verticals.matches.telling import LONGEST_TEXT

Fields = dict[str, Any]


def flattened(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's values by lower-case name, with those of its direct parts where they add a name.

    Sites keep a match's name, state and score in parts of their own, side by side.
    """
    flat = {name.lower(): value for name, value in item.items()}
    for name in ("matchinfo", "info", "match", "header", "matchscore", "score", "scorecard", "live", "content"):
        part = flat.get(name)
        if isinstance(part, dict):
            flat = {inner.lower(): value for inner, value in part.items() if isinstance(inner, str)} | flat
    return flat


def pick(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value there is under one of the names."""
    return next((flat[name] for name in names if flat.get(name) not in (None, "", [], {})), None)


def text_of(value: Any) -> str:
    """Return a short text or number as text; '' for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:LONGEST_TEXT]


def list_of(value: Any) -> list[Any]:
    """Return a value that is a list; an empty one for any other."""
    return value if isinstance(value, list) else []


def count_of(flat: Mapping[str, Any], *names: str) -> int | None:
    """Return the whole number under the first of the names that has one, written as text or as a number."""
    value = (
        pick(flat, names)
        if any(flat.get(name) for name in names)
        else next((flat[n] for n in names if n in flat), None)
    )
    if isinstance(value, str) and value.isdecimal() and len(value) < 6:  # noqa: PLR2004
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
