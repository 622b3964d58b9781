"""How values travel to each database's own driver and back, for statements that do not go through SQLAlchemy."""

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, Table, Text

from tidemill.store.database.column_types import (
    Json,
    Timestamp,
    json_or_none,
    micros_or_none,
    moment_or_none,
    parsed_or_none,
    postgres_json_or_none,
)

Convert = Callable[[Any], Any]


class Codec(msgspec.Struct, frozen=True):
    """A column's type: its name on PostgreSQL, and what each driver's values are made of; None leaves them alone."""

    postgres_type: str
    to_sqlite: Convert | None = None
    from_sqlite: Convert | None = None
    to_postgres: Convert | None = None
    from_postgres: Convert | None = None


def _int_or_none(value: Any) -> int | None:
    return None if value is None else int(value)


def _bool_or_none(value: Any) -> bool | None:
    return None if value is None else bool(value)


BIGINT = Codec("bigint")
INTEGER = Codec("integer")
FLOAT = Codec("double precision")
TEXT = Codec("text")
BYTES = Codec("bytea")
BOOLEAN = Codec("boolean", _int_or_none, _bool_or_none)
MOMENT = Codec("timestamptz", micros_or_none, moment_or_none)
"""Microseconds since 1970 on SQLite; asyncpg takes moments of any zone and answers them in UTC."""
JSON = Codec("jsonb", json_or_none, parsed_or_none, postgres_json_or_none)
"""Text to both drivers; SQLAlchemy has told asyncpg to answer jsonb as the value itself."""

_BY_TYPE: tuple[tuple[type[Any], Codec], ...] = (
    (Timestamp, MOMENT),
    (Json, JSON),
    (Boolean, BOOLEAN),
    (BigInteger, BIGINT),
    (Integer, INTEGER),
    (Float, FLOAT),
    (Text, TEXT),
    (LargeBinary, BYTES),
)  # fmt: skip - BigInteger is an Integer too, so the order counts


def codec_of(column: Column[Any]) -> Codec:
    """The codec of a column of the schema."""
    return next(codec for kind, codec in _BY_TYPE if isinstance(column.type, kind))


def codecs_of(table: Table, *names: str) -> dict[str, Codec]:
    """Columns of a table, by name and in this order, with their codecs; all columns if none is named."""
    return {name: codec_of(table.c[name]) for name in names or table.c.keys()}
