"""What the database says, read by plain SQL.

On purpose not by the store's own queries: a check that borrowed them would share their mistakes.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OPEN = frozenset({"ready", "waiting", "leased"})


class JobRow(msgspec.Struct, frozen=True):
    """A job."""

    id: int
    run_id: int
    source_id: int
    target_id: int
    host: str
    url: str
    trigger: str
    due_at: datetime
    stage: str
    status: str
    attempts: int
    max_attempts: int
    page_id: int | None
    created_at: datetime
    completed_at: datetime | None
    page_number: int


class PageRow(msgspec.Struct, frozen=True):
    """A page that a job read."""

    id: int
    job_id: int
    source_id: int
    url: str
    status_code: int
    failure: str | None
    created_at: datetime


class StoredRecord(Protocol):
    """A record in a vertical's table, as far as every vertical has it."""

    @property
    def id(self) -> int:
        """Its key."""
        ...

    @property
    def source_id(self) -> int:
        """Where it was seen."""
        ...

    @property
    def url(self) -> str | None:
        """Its own address, if it has one."""
        ...


ReadRecords = Callable[[sqlite3.Connection], Sequence[StoredRecord]]
"""Reads a vertical's records by plain SQL."""


class DeadLetterRow(msgspec.Struct, frozen=True):
    """A dead letter."""

    job_id: int
    status: str
    retry_count: int
    max_retries: int


class GoneRow(msgspec.Struct, frozen=True):
    """A record that was declared gone, by which run and when."""

    record_id: int
    run_id: int
    at: datetime


class DatabaseRows(msgspec.Struct, frozen=True):
    """Everything in the database that the laws are judged by."""

    sources: Mapping[int, str]
    jobs: list[JobRow]
    runs: Mapping[int, Mapping[str, Any]]
    pages: list[PageRow]
    records: Sequence[StoredRecord]
    dead_letters: Mapping[int, DeadLetterRow]
    gone: list[GoneRow]
    staged: int


class OpenJobsSample(msgspec.Struct, frozen=True):
    """How many jobs were open at a moment, by host."""

    at: datetime
    open_by_host: Mapping[str, int]

    @property
    def open(self) -> int:
        """How many in all."""
        return sum(self.open_by_host.values())


class DatabaseInspector:
    """Looks into the database while the simulation runs, and reads all of it at its end."""

    def __init__(self, database: Path, read_records: ReadRecords) -> None:
        """The database need not exist yet."""
        self._database = database
        self._read_records = read_records
        self._opened: sqlite3.Connection | None = None
        self.samples: list[OpenJobsSample] = []
        self.dead_letters_seen: set[int] = set()
        self.pages_checked: set[int] = set()
        self.mismatched_pages: dict[int, str] = {}

    def sample_open_jobs(self, now: datetime) -> None:
        """Note what is open."""
        self.samples.append(OpenJobsSample(now, dict(self._connection.execute(_HELD).fetchall())))

    def check_before_pruning(self) -> None:
        """Note which dead letters there are, and whether every record of a page has its verdict."""
        self.dead_letters_seen.update(
            row[0] for row in self._connection.execute("SELECT job_id FROM dead_letter_queue")
        )
        for page, found, accepted, rejected in self._connection.execute(_RECORDS).fetchall():
            self.pages_checked.add(page)
            if found != accepted + rejected:
                self.mismatched_pages[page] = (
                    f"page {page}: {found} records read, {accepted} accepted, {rejected} rejected"
                )

    def rows(self) -> DatabaseRows:
        """Read everything, at the end, and close the database."""
        with closing(self._connection) as connection:
            self._opened = None
            return DatabaseRows(
                sources=dict(connection.execute("SELECT id, name FROM scraper_sources")),
                jobs=[JobRow(*with_moments(row, 7, 13, 14)) for row in connection.execute(_JOBS)],
                runs={row["id"]: dict(row) for row in _by_name(connection, "SELECT * FROM scrape_runs ORDER BY id")},
                pages=[PageRow(*with_moments(row, 6)) for row in connection.execute(_PAGES)],
                records=self._read_records(connection),
                dead_letters={row[0]: DeadLetterRow(*row) for row in connection.execute(_DEAD_LETTERS)},
                gone=[GoneRow(*with_moments(row, 2)) for row in connection.execute(_GONE)],
                staged=connection.execute(_STAGED).fetchone()[0] or 0,
            )

    @property
    def _connection(self) -> sqlite3.Connection:
        """The database, kept open: a question is quick, but to open it means to read all of its schema."""
        if self._opened is None:
            self._opened = sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)
        return self._opened


_HELD = (
    "SELECT host, count(*) FROM ("
    " SELECT host FROM pipeline_jobs WHERE status = 'ready' AND current_stage = 'fetch' UNION ALL"
    " SELECT host FROM pipeline_jobs WHERE status = 'ready' AND current_stage <> 'fetch' UNION ALL"
    " SELECT host FROM pipeline_jobs WHERE status = 'waiting' UNION ALL"
    " SELECT host FROM pipeline_jobs WHERE status = 'leased') GROUP BY 1 ORDER BY 1"
)
"""Each kind has an index: no need to go through a month of jobs that are done."""
_JOBS = (
    "SELECT id, run_id, source_id, target_id, host, url, trigger, due_at, current_stage, status, attempts,"
    " max_attempts, page_id, created_at, completed_at, page_number FROM pipeline_jobs ORDER BY id"
)
_PAGES = "SELECT id, job_id, source_id, url, status_code, failure, created_at FROM raw_pages ORDER BY id"
_DEAD_LETTERS = "SELECT job_id, status, retry_count, max_retries FROM dead_letter_queue ORDER BY id"
_GONE = "SELECT record_id, run_id, created_at FROM record_history WHERE kind = 'gone' ORDER BY id"
_STAGED = (
    "SELECT sum(staged_records.accepted) FROM staged_records JOIN pipeline_jobs ON pipeline_jobs.id = job_id"
    " WHERE pipeline_jobs.page_id = staged_records.page_id AND pipeline_jobs.status <> 'done'"
)
_RECORDS = (
    "SELECT raw_records.page_id, raw_records.records, coalesce(staged_records.accepted, 0),"
    " coalesce(staged_records.dropped + staged_records.quarantined, 0)"
    " FROM raw_records JOIN pipeline_jobs ON pipeline_jobs.id = raw_records.job_id"
    " LEFT JOIN staged_records ON staged_records.page_id = raw_records.page_id"
    " WHERE pipeline_jobs.status = 'done' OR staged_records.page_id IS NOT NULL ORDER BY raw_records.page_id"
)


def moment(micros: int) -> datetime:
    """The moment that the store keeps as microseconds."""
    return _EPOCH + timedelta(microseconds=micros)


def with_moments(row: Any, *places: int) -> list[Any]:
    """Return the row with moments in these places, which the store keeps as microseconds."""
    values = list(row)
    for place in places:
        if values[place] is not None:
            values[place] = moment(values[place])
    return values


def _by_name(connection: sqlite3.Connection, query: str) -> list[sqlite3.Row]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(query).fetchall()
