"""Many rows in one statement: SQLite works through them at a stretch, without Python between two of them.

A statement for each row takes the interpreter and gives it back at each row. In a thread beside a busy loop that is a
wait per row; even alone it is a tenth of the time.
"""

import re
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

SIZES = (16, 64, 256)
"""Rows that one statement has room for. Few sizes, so that each is prepared once and kept."""
FEW = 8
"""Rows below this are written one by one: room for more would cost more than it saves."""
_INSERT = re.compile(r"(INSERT INTO .+?\)) VALUES \((\?(?:, \?)*)\)([^?]*)", re.DOTALL)
_UPDATE = re.compile(r"(UPDATE (?:(?! FROM )[^'])+) WHERE ([^']+)", re.DOTALL)


def write_rows(driver: sqlite3.Connection, text: str, rows: Sequence[tuple[Any, ...]], *, apart: bool = False) -> None:
    """Execute a statement for each row, in as few goes as it allows; an UPDATE only if all rows are `apart` in key."""
    if len(rows) < FEW or not _with_room(text, FEW) or (text.startswith("UPDATE") and not apart):
        driver.executemany(text, rows)
        return
    largest = SIZES[-1]
    for start in range(0, len(rows), largest):
        some = rows[start : start + largest]
        _write(driver, text, next(size for size in SIZES if size >= len(some)), some)


def _write(driver: sqlite3.Connection, text: str, size: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement with room for `size` rows; the room that is left holds noughts, which are never read."""
    filling = (0,) * (len(rows[0]) * (size - len(rows)))
    driver.execute(_with_room(text, size), (*chain.from_iterable(rows), *filling, len(rows)))


@lru_cache(maxsize=256)
def _with_room(text: str, size: int) -> str:
    """The statement with room for so many rows; nothing if it is neither a plain INSERT nor an UPDATE."""
    if insert := _INSERT.fullmatch(text):
        into, row, conflict = insert.groups()
        return f"{into} {_rows(row, size)}{conflict}"
    if update := _UPDATE.fullmatch(text):
        number = count(1)
        named = [re.sub(r"\?", lambda _: f"v.column{next(number)}", part) for part in update.groups()]
        row = ", ".join("?" * text.count("?"))
        return f"{named[0]} FROM ({_rows(row, size)}) AS v WHERE {named[1]}"
    return ""


def _rows(row: str, size: int) -> str:
    return "SELECT * FROM (VALUES " + ", ".join([f"({row})"] * size) + ") LIMIT ?"  # noqa: S608 - our own words only
