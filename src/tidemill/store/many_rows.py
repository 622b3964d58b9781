"""Many rows in one statement: SQLite works through them at a stretch, without Python between two of them.

A statement for each row takes the interpreter and gives it back at each row. In a thread beside a busy loop that is a
wait per row; even alone it is a tenth of the time.
"""

import re
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

SIZES = (256, 32)
"""Rows that one statement takes. Few sizes, so that each is prepared once and kept."""
FEW = 8
"""Rows below this are written one by one: room for more would cost more than it saves."""
_PLAIN_INSERT = re.compile(r"(INSERT INTO .+?\)) VALUES (\(\?(?:, \?)*\))([^?]*)", re.DOTALL)


def write_rows(driver: sqlite3.Connection, text: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement for each row, in as few goes as it allows."""
    if len(rows) < FEW or not _with_room(text, FEW):
        driver.executemany(text, rows)
        return
    done = 0
    for size in SIZES:
        for start in range(done, len(rows) - size + 1, size):
            _write(driver, text, size, rows[start : start + size])
            done = start + size
    if done < len(rows):
        _write(driver, text, SIZES[-1], rows[done:])


def _write(driver: sqlite3.Connection, text: str, size: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement with room for `size` rows; the room that is left holds the last one again, unread."""
    filling = rows[-1] * (size - len(rows))
    driver.execute(_with_room(text, size), (*chain.from_iterable(rows), *filling, len(rows)))


@lru_cache(maxsize=256)
def _with_room(text: str, size: int) -> str:
    """The statement with room for so many rows; nothing unless it inserts just the values it is given, each once."""
    plain = _PLAIN_INSERT.fullmatch(text)
    if plain is None:
        return ""
    into, row, conflict = plain.groups()
    return into + " SELECT * FROM (VALUES " + ", ".join([row] * size) + ") LIMIT ?" + conflict  # noqa: S608 - our own statement, in longer words
