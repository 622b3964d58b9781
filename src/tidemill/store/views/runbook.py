"""A person's questions in SQL, read-only and bounded, as the runbook writes them, on both databases."""

import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from sqlalchemy import Boolean, Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.column_types import MICROSECOND, Timestamp, from_micros, to_micros
from tidemill.store.database.database import Database
from tidemill.store.schema import metadata

MOST_ROWS = 1_000
PATIENCE = timedelta(seconds=10)
STEPS = 20_000
"""SQLite's own steps between two looks at the clock: a few milliseconds."""

QUESTIONS = ("select", "with", "values")
_ONLY_QUESTIONS = "only questions are answered here; begin with SELECT or WITH, and change nothing"
_ONE_AT_A_TIME = "one question at a time; ask them one after the other"
_TOO_SLOW = f"the answer took longer than {PATIENCE.total_seconds():g} s; ask for less, or for a shorter time"

UNITS = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
SQLITE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"

END_OF_CALENDAR = to_micros(datetime(9999, 1, 1, tzinfo=UTC))

_PIECE = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*") | (?P<comment>--[^\n]* | /\*.*?\*/) | (?P<end>;)
      | \bINTERVAL\s*'(?P<interval>[^']*)' | (?P<now>\bNOW\s*\(\s*\) | \bCURRENT_TIMESTAMP\b)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SPAN = re.compile(r"(-?\d+(?:\.\d+)?)\s*([a-z]+?)s?\b", re.IGNORECASE)

_COLUMNS = [column for table in metadata.tables.values() for column in table.columns]
_MOMENTS = {column.name for column in _COLUMNS if isinstance(column.type, Timestamp)}
_FLAGS = {column.name for column in _COLUMNS if isinstance(column.type, Boolean)} | {"is_available"}


class BadQuestion(StoreError):
    """What was asked is no single question: whoever wrote it can mend it."""


class QueryResult(msgspec.Struct, frozen=True):
    """Columns and rows; moments are ISO text. `cut` says that there were more rows than are shown."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    cut: bool = False


async def ask(database: Database, sql: str, now: datetime | None = None) -> QueryResult:
    """Answer one SELECT. NOW() is the database's clock, or `now` on SQLite when time is not the world's."""
    question = _one_question(sql)
    if database.is_sqlite:
        question = for_sqlite(question, now)
    async with database.read() as connection, _bounded(connection, database):
        try:
            columns, rows = await connection.run_sync(lambda sync: _fetch(sync, question))
        except DBAPIError as error:
            raise StoreError(_in_words(error)) from error
    shown = [tuple(_shown(name, value) for name, value in zip(columns, row, strict=True)) for row in rows[:MOST_ROWS]]
    return QueryResult(columns, shown, len(rows) > MOST_ROWS)


def questions_in(text: str) -> list[str]:
    """The statements of a text, split where a semicolon really ends one; comments go."""
    questions: list[str] = []
    current, last = "", 0
    for piece in _PIECE.finditer(text):
        if piece["comment"] or piece["end"]:
            current, last = current + text[last : piece.start()], piece.end()
        if piece["end"]:
            questions.append(current.strip())
            current = ""
    questions.append((current + text[last:]).strip())
    return [question for question in questions if question]


def for_sqlite(question: str, now: datetime | None = None) -> str:
    """The question with PostgreSQL's NOW() and INTERVAL '24 hours' in the microseconds that SQLite keeps."""
    present = SQLITE_NOW if now is None else str(to_micros(now))

    def rewritten(piece: re.Match[str]) -> str:
        if piece["interval"] is not None:
            return str(_micros(piece["interval"]))
        return present if piece["now"] else piece[0]

    return _PIECE.sub(rewritten, question)


def _micros(interval: str) -> int:
    spans = _SPAN.findall(interval)
    if not spans or _SPAN.sub("", interval).strip() or any(unit.lower() not in UNITS for _, unit in spans):
        msg = f"INTERVAL '{interval}' cannot be read; write a number and a unit, such as INTERVAL '24 hours'"
        raise StoreError(msg)
    return sum(timedelta(seconds=float(count) * UNITS[unit.lower()]) // MICROSECOND for count, unit in spans)


def _one_question(sql: str) -> str:
    questions = questions_in(sql)
    if len(questions) != 1:
        raise BadQuestion(_ONE_AT_A_TIME if questions else _ONLY_QUESTIONS)
    if questions[0].lstrip("( \n\t").split(None, 1)[0].lower() not in QUESTIONS:
        raise BadQuestion(_ONLY_QUESTIONS)
    return questions[0]


@asynccontextmanager
async def _bounded(connection: AsyncConnection, database: Database) -> AsyncIterator[None]:
    """Let the database itself refuse to write, and stop what takes too long."""
    if not database.is_sqlite:
        await connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        await connection.exec_driver_sql(f"SET LOCAL statement_timeout = {PATIENCE // timedelta(milliseconds=1)}")
        yield
        return
    driver = (await connection.get_raw_connection()).driver_connection
    deadline = time.monotonic() + PATIENCE.total_seconds()
    await connection.exec_driver_sql("PRAGMA query_only = ON")
    await driver.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)  # type: ignore[union-attr]
    try:
        yield
    finally:
        await driver.set_progress_handler(None, 0)  # type: ignore[union-attr]
        await connection.exec_driver_sql("PRAGMA query_only = OFF")


def _fetch(connection: Connection, question: str) -> tuple[list[str], list[Any]]:
    """Fetch one row more than is shown; the database sends no more than that."""
    if connection.dialect.name == "postgresql":
        # The person's own SQL, in a read-only transaction: that is what this function is for.
        bounded = f"SELECT * FROM ({question}) AS asked LIMIT {MOST_ROWS + 1}"  # noqa: S608 - see above
        result = connection.exec_driver_sql(bounded)
    else:
        result = connection.exec_driver_sql(question, execution_options={"stream_results": True})
    try:
        return list(result.keys()), list(result.fetchmany(MOST_ROWS + 1))
    finally:
        result.close()


def _in_words(error: DBAPIError) -> str:
    said = str(error.orig).strip().split("\n", 1)[0]
    plain = said.lower()
    if "readonly" in plain or "read-only" in plain:
        return _ONLY_QUESTIONS
    if "interrupted" in plain or "statement timeout" in plain:
        return _TOO_SLOW
    return f"the database does not understand the question: {said.rpartition('>: ')[2]}"


def _shown(name: str, value: Any) -> Any:
    """A value as people and JSON read it, the same from both databases."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if type(value) is int and _is_moment(name, value):
        return from_micros(value).isoformat()
    if type(value) is int and name in _FLAGS:
        return bool(value)
    return value


def _is_moment(name: str, value: int) -> bool:
    """Whether a number from SQLite stands for a moment; sums of moments are out of any calendar."""
    return (name in _MOMENTS or name.endswith(("_at", "_until"))) and 0 <= value < END_OF_CALENDAR
