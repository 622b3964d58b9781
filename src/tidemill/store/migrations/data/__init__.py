"""The rows that steps of the migration insert, as they were when the step was written: history never changes."""

import csv
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

Rows = list[dict[str, Any]]


def municipalities() -> Rows:
    """Return the 342 municipalities of the Netherlands that step 0003 inserts."""
    return _rows("municipalities.csv", {"population": int, "latitude": float, "longitude": float})


def markets() -> Rows:
    """Return the 19 markets that step 0005 inserts."""
    return _rows("markets.csv", {})


def _rows(name: str, kinds: Mapping[str, Callable[[str], Any]]) -> Rows:
    lines = (files(__name__) / name).read_text("utf-8").splitlines()
    return [{key: kinds.get(key, str)(value) for key, value in row.items()} for row in csv.DictReader(lines)]
