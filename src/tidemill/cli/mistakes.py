"""Errors caused by a person or the outside, as one line; any other error is a bug and shows its traceback."""

from tidemill.core.urls import BadUrl
from tidemill.core.views.records import BadCursor
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import StoreError
from tidemill.settings import BadSettings
from tidemill.store.views.runbook import BadQuestion
from tidemill.terminal.exit_codes import FAILURE, USAGE
from tidemill.web.listening import CannotListen


def error_message(error: Exception) -> tuple[int, str | None]:
    """Return the exit code and the message for a person; None for a bug."""
    match error:
        case BadSettings() | Mistake() | BadUrl() | BadCursor() | BadQuestion():
            return USAGE, str(error)
        case StoreError() | CannotListen():
            return FAILURE, str(error)
        case ModuleNotFoundError(name="asyncpg"):
            return FAILURE, "PostgreSQL needs one more package: pip install 'tidemill[postgres]'"
        case PermissionError() | FileNotFoundError() | IsADirectoryError() | NotADirectoryError():
            return FAILURE, f"{error.filename or 'a file'}: {error.strerror}"
        case _:
            return FAILURE, None
