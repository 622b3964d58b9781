"""What a database's errors mean, code by code; no word of any driver decides."""

import errno
import socket
import sqlite3
import ssl

import pytest
from asyncpg import exceptions as driver
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi as Adapter
from sqlalchemy.exc import DBAPIError, PendingRollbackError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tidemill.pipeline.ports import StoreBusy, StoreClosedToUs, StoreConflict, StoreError, StoreLost
from tidemill.store.database import outages
from tidemill.store.database.outages import is_locked, translate

IN_GERMAN = "die Anfrage konnte nicht bearbeitet werden"

BY_CODE = {
    "08000": (driver.PostgresConnectionError, StoreLost),
    "08001": (driver.ClientCannotConnectError, StoreLost),
    "08003": (driver.ConnectionDoesNotExistError, StoreLost),
    "08004": (driver.ConnectionRejectionError, StoreLost),
    "08006": (driver.ConnectionFailureError, StoreLost),
    "08P01": (driver.ProtocolViolationError, StoreLost),
    "0A000": (driver.FeatureNotSupportedError, StoreError),
    "22003": (driver.NumericValueOutOfRangeError, StoreError),
    "22021": (driver.CharacterNotInRepertoireError, StoreError),
    "23505": (driver.UniqueViolationError, StoreError),
    "25006": (driver.ReadOnlySQLTransactionError, StoreLost),
    "25P02": (driver.InFailedSQLTransactionError, StoreError),
    "25P03": (driver.IdleInTransactionSessionTimeoutError, StoreConflict),
    "26000": (driver.InvalidSQLStatementNameError, StoreLost),
    "28000": (driver.InvalidAuthorizationSpecificationError, StoreClosedToUs),
    "28P01": (driver.InvalidPasswordError, StoreClosedToUs),
    "3D000": (driver.InvalidCatalogNameError, StoreClosedToUs),
    "40001": (driver.SerializationError, StoreConflict),
    "40002": (driver.TransactionIntegrityConstraintViolationError, StoreError),
    "40003": (driver.StatementCompletionUnknownError, StoreConflict),
    "40P01": (driver.DeadlockDetectedError, StoreConflict),
    "42501": (driver.InsufficientPrivilegeError, StoreLost),
    "42703": (driver.UndefinedColumnError, StoreError),
    "42P01": (driver.UndefinedTableError, StoreError),
    "42P05": (driver.DuplicatePreparedStatementError, StoreLost),
    "53000": (driver.InsufficientResourcesError, StoreBusy),
    "53100": (driver.DiskFullError, StoreLost),
    "53200": (driver.OutOfMemoryError, StoreBusy),
    "53300": (driver.TooManyConnectionsError, StoreBusy),
    "53400": (driver.ConfigurationLimitExceededError, StoreBusy),
    "55006": (driver.ObjectInUseError, StoreBusy),
    "55P03": (driver.LockNotAvailableError, StoreBusy),
    "57014": (driver.QueryCanceledError, StoreError),
    "57P01": (driver.AdminShutdownError, StoreLost),
    "57P02": (driver.CrashShutdownError, StoreLost),
    "57P03": (driver.CannotConnectNowError, StoreLost),
    "57P04": (driver.DatabaseDroppedError, StoreLost),
    "57P05": (driver.IdleSessionTimeoutError, StoreLost),
    "58000": (driver.PostgresSystemError, StoreLost),
    "58030": (driver.PostgresIOError, StoreLost),
    "F0001": (driver.LockFileExistsError, StoreLost),
    "P0001": (driver.RaiseError, StoreError),
    "XX000": (driver.InternalServerError, StoreError),
}
BY_TYPE = [
    (driver.InterfaceError("cannot perform operation: another operation is in progress"), StoreLost),
    (driver.InterfaceError("connection is closed"), StoreLost),
    (driver.ClientConfigurationError("could not parse the address"), StoreError),
    (driver.UnsupportedClientFeatureError("not supported"), StoreError),
    (driver.InternalClientError("cannot switch to state 15; another operation (2) is in progress"), StoreLost),
    (driver.ProtocolError("unexpected message"), StoreLost),
    (driver.TargetServerAttributeNotMatched("none of the hosts match"), StoreLost),
    (driver.OutdatedSchemaCacheError("cached types are outdated"), StoreConflict),
    (driver.InvalidCachedStatementError("cached plan must not change result type"), StoreConflict),
    (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), StoreLost),
    (ConnectionResetError("reset"), StoreLost),
    (TimeoutError(), StoreLost),
    (socket.gaierror(socket.EAI_AGAIN, "no name"), StoreLost),
    (ssl.SSLError(1, "wrong version"), StoreLost),
    (OSError(errno.EMFILE, "too many files"), StoreBusy),
    (OSError(errno.ENFILE, "too many files"), StoreBusy),
    (OSError(errno.ENOMEM, "no memory"), StoreBusy),
    (PoolTimeout("the pool is empty"), StoreBusy),
    (PendingRollbackError("roll back first"), StoreLost),
    (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), StoreError),
    (OverflowError("too large"), StoreError),
]
BY_NUMBER = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
    errno.EFBIG: "the disk refused a write",
    errno.EIO: "the disk refused a write",
    errno.EROFS: "cannot be written",
    errno.EACCES: "check the rights on it",
    errno.EPERM: "check the rights on it",
}
BY_RESULT = {
    "SQLITE_BUSY": (StoreBusy, "locked by another program"),
    "SQLITE_BUSY_RECOVERY": (StoreBusy, "locked by another program"),
    "SQLITE_BUSY_SNAPSHOT": (StoreConflict, "tried again"),
    "SQLITE_BUSY_TIMEOUT": (StoreBusy, "locked by another program"),
    "SQLITE_LOCKED": (StoreBusy, "locked by another program"),
    "SQLITE_LOCKED_SHAREDCACHE": (StoreBusy, "locked by another program"),
    "SQLITE_PROTOCOL": (StoreBusy, "locked by another program"),
    "SQLITE_SCHEMA": (StoreConflict, "tried again"),
    "SQLITE_NOMEM": (StoreBusy, "memory"),
    "SQLITE_IOERR_NOMEM": (StoreBusy, "memory"),
    "SQLITE_FULL": (StoreLost, "the disk is full"),
    "SQLITE_IOERR": (StoreLost, "the disk refused a write"),
    "SQLITE_IOERR_WRITE": (StoreLost, "the disk refused a write"),
    "SQLITE_IOERR_FSYNC": (StoreLost, "the disk refused a write"),
    "SQLITE_READONLY": (StoreLost, "cannot be written"),
    "SQLITE_READONLY_DIRECTORY": (StoreLost, "cannot be written"),
    "SQLITE_PERM": (StoreLost, "cannot be written"),
    "SQLITE_CANTOPEN": (StoreLost, "cannot be opened"),
    "SQLITE_CANTOPEN_ISDIR": (StoreLost, "cannot be opened"),
    "SQLITE_CORRUPT": (StoreLost, "damaged"),
    "SQLITE_CORRUPT_INDEX": (StoreLost, "damaged"),
    "SQLITE_NOTADB": (StoreLost, "damaged"),
    "SQLITE_ERROR": (StoreError, "said"),
    "SQLITE_CONSTRAINT": (StoreError, "said"),
    "SQLITE_CONSTRAINT_UNIQUE": (StoreError, "said"),
    "SQLITE_TOOBIG": (StoreError, "said"),
    "SQLITE_MISMATCH": (StoreError, "said"),
}


def from_postgres(kind, **fields):
    error = kind(IN_GERMAN)
    for name, value in fields.items():
        setattr(error, name, value)
    return error


def as_adapted(error):
    """As SQLAlchemy raises what its adapter made of asyncpg's error."""
    adapted = Adapter.Error(str(error), error)
    adapted.__cause__ = error
    return DBAPIError("SELECT 1", None, adapted)


def as_asked_directly(error):
    """As our own hot statements raise it."""
    return DBAPIError("SELECT 1", None, error)


def from_sqlite(name, words="said"):
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


@pytest.mark.parametrize("wrap", [as_adapted, as_asked_directly, lambda error: error])
@pytest.mark.parametrize("code", BY_CODE)
def test_a_postgres_error_is_told_by_its_code_in_any_language(code, wrap):
    kind, meaning = BY_CODE[code]
    error = from_postgres(kind)
    assert error.sqlstate == code
    assert type(translate(wrap(error))) is meaning


@pytest.mark.parametrize("wrap", [as_adapted, as_asked_directly, lambda error: error])
@pytest.mark.parametrize(("error", "meaning"), BY_TYPE, ids=repr)
def test_an_error_without_a_code_is_told_by_its_type(error, meaning, wrap):
    assert type(translate(wrap(error) if type(error).__module__.startswith("asyncpg") else error)) is meaning


@pytest.mark.parametrize("number", BY_NUMBER)
def test_a_disk_in_trouble_is_told_by_its_number(number):
    told = translate(OSError(number, IN_GERMAN))
    assert type(told) is StoreLost
    assert BY_NUMBER[number] in str(told)


@pytest.mark.parametrize("name", BY_RESULT)
def test_a_sqlite_error_is_told_by_its_result_code(name):
    meaning, words = BY_RESULT[name]
    for error in (from_sqlite(name), DBAPIError("SELECT 1", None, from_sqlite(name))):
        told = translate(error)
        assert type(told) is meaning
        assert words in str(told)


def test_every_row_of_the_tables_is_met_by_a_case_above():
    codes = {row for row in outages.POSTGRES if not any(code.startswith(row) for code in BY_CODE)}
    names = {row for row in outages.DRIVER if not any(row in map(name_of, type(each).__mro__) for each, _ in BY_TYPE)}
    results = set(outages.SQLITE) - {getattr(sqlite3, name) for name in BY_RESULT}
    numbers = set(outages.SYSTEM) - set(BY_NUMBER) - {each.errno for each, _ in BY_TYPE if isinstance(each, OSError)}
    assert (codes, names, results, numbers) == (set(), set(), set(), set())


def name_of(kind):
    return kind.__name__


@pytest.mark.parametrize("severity", ["FATAL", "PANIC"])
def test_what_ends_the_connection_is_not_the_statement_s_fault(severity):
    pooler = from_postgres(driver.InternalServerError, severity_en=severity, severity="FATALE")
    assert type(translate(as_adapted(pooler))) is StoreLost


def test_a_code_that_nobody_knows_is_a_refusal():
    raised = from_postgres(driver.UnknownPostgresError, sqlstate="ZZ123", severity_en="ERROR")
    assert type(translate(as_adapted(raised))) is StoreError


def test_a_connection_that_sqlalchemy_gave_up_is_lost():
    error = DBAPIError("SELECT 1", None, driver.InternalServerError("?"), connection_invalidated=True)
    assert type(translate(error)) is StoreLost


def test_english_words_decide_nothing():
    for words in ("too many clients", "database is locked", "disk is full", "connection refused", "starting up"):
        assert type(translate(as_adapted(driver.UniqueViolationError(words)))) is StoreError
        assert type(translate(from_sqlite("SQLITE_CONSTRAINT", words))) is StoreError


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (from_postgres(driver.UndefinedTableError), "run `tidemill migrate`"),
        (from_sqlite("SQLITE_ERROR", "no such table: jobs"), "run `tidemill migrate`"),
        (from_postgres(driver.TooManyConnectionsError), "run fewer workers"),
        (from_postgres(driver.InvalidPasswordError), "check user, password and name"),
        (from_postgres(driver.InvalidSQLStatementNameError), "session mode"),
        (from_postgres(driver.ReadOnlySQLTransactionError), "standby"),
        (from_postgres(driver.CannotConnectNowError), f"the database does not answer ({IN_GERMAN}); check its address"),
    ],
)
def test_a_message_says_what_to_do(error, advice):
    assert advice in str(translate(error))


def test_a_message_keeps_the_first_line_only():
    said = str(translate(DBAPIError("x", None, driver.UniqueViolationError("twice\nDETAIL: secret"))))
    assert said == "twice"


def test_only_a_lock_is_waited_for_inside_a_transaction():
    assert is_locked(from_sqlite("SQLITE_BUSY"))
    assert not is_locked(from_sqlite("SQLITE_FULL", "database is locked"))
