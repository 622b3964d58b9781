"""Column types that mean the same on SQLite and PostgreSQL."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
"""The escape of a NUL in JSON text; a backslash that is itself escaped begins none."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Key = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit key; on SQLite it must be spelled INTEGER to be the row id itself."""


def to_micros(moment: datetime) -> int:
    """A moment as microseconds since 1970: exact, compact, and fit for arithmetic in SQL."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` wrote."""
    return EPOCH + timedelta(microseconds=micros)


def micros_or_none(moment: datetime | None) -> int | None:
    """A moment as SQLite keeps it."""
    return None if moment is None else to_micros(moment)


def moment_or_none(micros: int | None) -> datetime | None:
    """A moment that SQLite kept."""
    return None if micros is None else EPOCH + timedelta(microseconds=micros)


def json_or_none(value: Any) -> str | None:
    """A value as JSON text; nothing is NULL, not JSON's null."""
    return None if value is None else msgspec.json.encode(value).decode()


def postgres_json_or_none(value: Any) -> str | None:
    """A value as JSON text that PostgreSQL takes: `jsonb` holds no NUL, so that U+FFFD stands for each."""
    text = json_or_none(value)
    return text if text is None or "\\u0000" not in text else _NUL.sub(r"\1\\ufffd", text)


def parsed_or_none(text: str | None) -> Any:
    """The value in a JSON text."""
    return None if text is None else msgspec.json.decode(text)


def storable(text: str, longest: int) -> str:
    """Words from anywhere as every database takes them: no NUL, no half of a surrogate pair, no more than `longest`."""
    text = text[:longest].replace("\x00", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class Timestamp(TypeDecorator[datetime]):
    """A moment in UTC: `timestamptz` on PostgreSQL, integer microseconds since 1970 on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type for the database at hand."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(DateTime(timezone=True))

    def bind_processor(self, dialect: Dialect) -> Any:
        """The quick way for SQLite, where every row of every page has a few moments."""
        return micros_or_none if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """The quick way back."""
        return moment_or_none if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Turn a moment into what the database keeps."""
        return micros_or_none(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Turn what the database keeps into a moment."""
        if value is None or dialect.name == "sqlite":
            return moment_or_none(value)
        return value.astimezone(UTC)  # type: ignore[no-any-return]  # asyncpg gives datetimes


class Json(TypeDecorator[Any]):
    """A JSON value: `jsonb` on PostgreSQL, text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Pick the column type for the database at hand."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else JSONB())

    def bind_processor(self, dialect: Dialect) -> Any:
        """The quick way for SQLite."""
        return json_or_none if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """The quick way back."""
        return parsed_or_none if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Encode for SQLite; SQLAlchemy does so for PostgreSQL."""
        return json_or_none(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Decode what SQLite kept as text."""
        return parsed_or_none(value) if dialect.name == "sqlite" else value
