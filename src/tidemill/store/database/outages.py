"""What a database's errors mean: told by their codes and types, never by their words.

PostgreSQL speaks the language of its settings, and a pooler speaks its own; SQLSTATE is the same everywhere. An error
is the statement's fault unless this table says that the database, the disk or the way to it is in trouble: what is
refused costs a job its output, and what is lost is waited for.
"""

import errno
import sqlite3
from collections.abc import Iterator, Mapping

import msgspec
from sqlalchemy.exc import DBAPIError, PendingRollbackError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tidemill.pipeline.ports import StoreBusy, StoreClosedToUs, StoreConflict, StoreError, StoreLost


class StoreErrorMeaning(msgspec.Struct, frozen=True):
    """What whoever asked should do, by the kind of error, and words for a person; `{said}` is the driver's own line."""

    kind: type[StoreError]
    words: str = "{said}"


REFUSED = StoreErrorMeaning(StoreError)
UNSTORABLE = StoreErrorMeaning(StoreError, "the database cannot hold a value ({said})")
NO_TABLES = StoreErrorMeaning(StoreError, "the database has no tables yet, or old ones; run `tidemill migrate`")
UNDONE = StoreErrorMeaning(
    StoreConflict, "the database undid a transaction in favour of another ({said}); it is tried again"
)
LOCKED = StoreErrorMeaning(StoreBusy, "the database is locked by another program; close it, or wait until it is done")
CONTESTED = StoreErrorMeaning(StoreBusy, "a row or table is locked by somebody else ({said}); it is tried again")
NO_CONNECTION = StoreErrorMeaning(
    StoreBusy, "the database has no connection to spare ({said}); allow it more, or run fewer workers"
)
NO_MEMORY = StoreErrorMeaning(
    StoreBusy, "there is not enough memory or room for files ({said}); free some, or raise the limit"
)
NO_ANSWER = StoreErrorMeaning(StoreLost, "the database does not answer ({said}); check its address and that it runs")
NOT_LET_IN = StoreErrorMeaning(
    StoreClosedToUs, "the database does not let us in ({said}); check user, password and name in its address"
)
NOT_ALLOWED = StoreErrorMeaning(StoreLost, "the database's user may not do this ({said}); grant it the right")
POOLED_AWAY = StoreErrorMeaning(
    StoreLost, "a prepared statement is gone ({said}); a pooler in front of PostgreSQL must be in session mode"
)
STANDBY = StoreErrorMeaning(
    StoreLost, "the database cannot be written: it is a standby or set to read-only; check its address and its server"
)
READ_ONLY = StoreErrorMeaning(
    StoreLost, "the database cannot be written: check the rights on its file and folder, and the disk"
)
NO_RIGHT = StoreErrorMeaning(StoreLost, "a file cannot be used ({said}); check the rights on it and on its folder")
FULL = StoreErrorMeaning(StoreLost, "the disk is full; make room, and the work goes on where it stopped")
NOT_WRITTEN = StoreErrorMeaning(StoreLost, "the disk refused a write; check it and the free space")
UNOPENED = StoreErrorMeaning(
    StoreLost, "the database file cannot be opened: check that its folder exists and may be written"
)
DAMAGED = StoreErrorMeaning(
    StoreLost, "the database file is damaged or is none of ours ({said}); check its address, or restore a backup"
)

POSTGRES: Mapping[str, StoreErrorMeaning] = {
    "08":    NO_ANSWER,      # connection exceptions; what poolers say of a server that they cannot reach is 08P01
    "25006": STANDBY,        # read-only transaction
    "25P03": UNDONE,         # idle in a transaction for too long: this process was frozen
    "26000": POOLED_AWAY,    # unknown prepared statement
    "42P05": POOLED_AWAY,    # the prepared statement of another client
    "28":    NOT_LET_IN,     # authorization
    "3D":    NOT_LET_IN,     # no such database
    "40":    UNDONE,         # serialization failure, deadlock
    "40002": REFUSED,        # a constraint, looked at when the transaction ended
    "42501": NOT_ALLOWED,    # insufficient privilege
    "42P01": NO_TABLES,      # undefined table
    "53":    NO_MEMORY,      # insufficient resources
    "53100": FULL,           # disk full
    "53300": NO_CONNECTION,  # too many connections, of all or of a role or database
    "53400": NO_CONNECTION,  # a configured limit
    "55006": CONTESTED,      # object in use
    "55P03": CONTESTED,      # lock not available
    "57P":   NO_ANSWER,      # shutdown, crash, starting up or recovering, ended for being idle
    "58":    NOT_WRITTEN,    # input/output errors outside of PostgreSQL
    "F0":    NO_ANSWER,      # the server's configuration
}  # fmt: skip
"""By SQLSTATE or the beginning of one; the longest that fits counts."""

ENDED = frozenset({"FATAL", "PANIC"})
"""Severities with which PostgreSQL ends the connection: what else it then says is not the statement's fault."""

DRIVER: Mapping[str, StoreErrorMeaning] = {
    "OutdatedSchemaCacheError":        UNDONE,     # a migration changed a type
    "InvalidCachedStatementError":     UNDONE,     # a migration changed a table
    "ClientConfigurationError":        REFUSED,    # an address that cannot be read
    "UnsupportedClientFeatureError":   REFUSED,    # as is a wish that the driver cannot fulfil
    "InterfaceError":                  NO_ANSWER,  # the connection is closed, or was left in the middle of something
    "InternalClientError":             NO_ANSWER,  # the connection broke off in the middle of an answer
}  # fmt: skip
"""By the names of asyncpg's own classes, which have no code, nearest first; it need not be installed."""

SQLITE: Mapping[int, StoreErrorMeaning] = {
    sqlite3.SQLITE_BUSY:          LOCKED,
    sqlite3.SQLITE_BUSY_SNAPSHOT: UNDONE,       # somebody wrote between our reading and our writing
    sqlite3.SQLITE_LOCKED:        LOCKED,
    sqlite3.SQLITE_PROTOCOL:      LOCKED,       # several processes came to the log at once
    sqlite3.SQLITE_SCHEMA:        UNDONE,       # a migration came between
    sqlite3.SQLITE_NOMEM:         NO_MEMORY,
    sqlite3.SQLITE_IOERR_NOMEM:   NO_MEMORY,
    sqlite3.SQLITE_FULL:          FULL,
    sqlite3.SQLITE_IOERR:         NOT_WRITTEN,
    sqlite3.SQLITE_READONLY:      READ_ONLY,
    sqlite3.SQLITE_PERM:          READ_ONLY,
    sqlite3.SQLITE_CANTOPEN:      UNOPENED,
    sqlite3.SQLITE_CORRUPT:       DAMAGED,
    sqlite3.SQLITE_NOTADB:        DAMAGED,
}  # fmt: skip
"""By extended result code, else by the primary one in its lowest byte."""

SYSTEM: Mapping[int, StoreErrorMeaning] = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG:  NOT_WRITTEN,
    errno.EIO:    NOT_WRITTEN,
    errno.EROFS:  READ_ONLY,
    errno.EACCES: NO_RIGHT,
    errno.EPERM:  NO_RIGHT,
    errno.EMFILE: NO_MEMORY,
    errno.ENFILE: NO_MEMORY,
    errno.ENOMEM: NO_MEMORY,
}  # fmt: skip
"""By the operating system's number; any other trouble of its own (sockets, names, TLS, time) is a lost connection."""


def translate(error: BaseException) -> StoreError:
    """A driver's error in our words: what whoever asked may do, and what a person can do."""
    meaning = meaning_of(error)
    said = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0][:300]
    return meaning.kind(meaning.words.replace("{said}", said))


def meaning_of(error: BaseException) -> StoreErrorMeaning:
    """What an error means: as SQLAlchemy wraps it, as the driver raises it, or as the operating system does."""
    found = (_of_layer(layer) for layer in _layers(error))
    return next((meaning for meaning in found if meaning is not None), REFUSED)


def _layers(error: BaseException) -> Iterator[BaseException]:
    """The driver's own error first, then what it is wrapped in: each layer knows less."""
    inner = getattr(error, "orig", None) or (error.__cause__ if _is_adapted(error) else None)
    if isinstance(inner, BaseException):
        yield from _layers(inner)
    yield error


def _is_adapted(error: BaseException) -> bool:
    """Whether SQLAlchemy's adapter raised this from the driver's own error."""
    return type(error).__module__.startswith("sqlalchemy.")


def _of_layer(error: BaseException) -> StoreErrorMeaning | None:
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error)
    if isinstance(error, OSError):
        return SYSTEM.get(error.errno or 0, NO_ANSWER)
    if isinstance(error, UnicodeEncodeError | OverflowError):
        return UNSTORABLE
    if isinstance(error, PoolTimeout):
        return NO_CONNECTION
    if isinstance(error, PendingRollbackError) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        return NO_ANSWER
    return _of_postgres(error)


def _of_sqlite(error: sqlite3.Error) -> StoreErrorMeaning:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    meaning = SQLITE.get(code) or SQLITE.get(code & 0xFF)
    if meaning is None and code == sqlite3.SQLITE_ERROR and str(error).startswith("no such table"):
        return NO_TABLES  # it has no code of its own, and SQLite speaks English only
    return meaning or REFUSED


def _of_postgres(error: BaseException) -> StoreErrorMeaning | None:
    code = getattr(error, "sqlstate", None) or ""
    by_code = next((POSTGRES[code[:size]] for size in range(len(code), 1, -1) if code[:size] in POSTGRES), None)
    names = [each.__name__ for each in type(error).__mro__ if each.__module__.startswith("asyncpg.")]
    by_name = next((DRIVER[name] for name in names if name in DRIVER), None)
    return by_code or by_name or _if_ended(error)


def _if_ended(error: BaseException) -> StoreErrorMeaning | None:
    """Asyncpg keeps the severity in English beside the one in the server's language."""
    return NO_ANSWER if getattr(error, "severity_en", None) in ENDED else None


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another connection to SQLite's file must let go first."""
    return _of_sqlite(error) is LOCKED
