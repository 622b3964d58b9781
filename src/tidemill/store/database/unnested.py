"""A set of rows in one statement for PostgreSQL: each column travels as an array, and `unnest` makes rows again.

A statement per row costs the server a bind, an execution and a plan's start each time, and the driver as much again.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Dialect, Executable
from sqlalchemy.sql.sqltypes import NullType

PLACE = re.compile(r"\$(\d+)(?:::(?:TIMESTAMP WITH TIME ZONE|DOUBLE PRECISION|[A-Z]+))?")
"""A parameter as SQLAlchemy writes it for asyncpg, with its type where that is in doubt."""
_INSERT = re.compile(r"(INSERT INTO [^$]+?\)) VALUES \(([$\w: ,]+)\)([^$]*)", re.DOTALL)
_UPDATE = re.compile(r"(UPDATE (?:(?! FROM ).)+) WHERE (.+)", re.DOTALL)


@lru_cache(maxsize=128)
def unnested(statement: Executable, dialect: Dialect, keys: tuple[str, ...]) -> str:
    """The statement for columns instead of values; nothing if it is neither a plain INSERT nor an UPDATE.

    The parameters are those of the statement itself, in the same order, each a list. An UPDATE may meet no row twice.
    """
    compiled: Any = statement.compile(dialect=dialect, column_keys=list(keys))  # type: ignore[attr-defined]
    types = [compiled.binds[name].type for name in compiled.positiontup]
    if any(isinstance(each, NullType) for each in types):
        return ""
    arrays = _arrays([each.compile(dialect=dialect) for each in types])
    if insert := _INSERT.fullmatch(compiled.string):
        into, values, conflict = insert.groups()
        alone = all(PLACE.fullmatch(value) for value in values.split(", "))
        return f"{into} SELECT * FROM {arrays}{conflict}" if alone else ""  # noqa: S608 - our own statement
    if update := _UPDATE.fullmatch(compiled.string):
        named = [PLACE.sub(r"v.c\1", part) for part in update.groups()]
        names = ", ".join(f"c{number}" for number, _ in enumerate(types, 1))
        return f"{named[0]} FROM {arrays} AS v({names}) WHERE {named[1]}"
    return ""


def _arrays(types: Sequence[str]) -> str:
    return "unnest(" + ", ".join(f"${number}::{each}[]" for number, each in enumerate(types, 1)) + ")"
