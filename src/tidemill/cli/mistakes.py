"""What went wrong because of a person or the world, in one line; anything else is a bug and shows its traceback."""

from tidemill.core.urls import BadUrl
from tidemill.core.views.records import BadCursor
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import StoreError
from tidemill.settings import BadSettings
from tidemill.terminal.exit_codes import FAILURE, USAGE
from tidemill.web.listening import CannotListen


def told(error: Exception) -> tuple[int, str | None]:
    """The exit code and the words for a person; None for a bug."""
    match error:
        case BadSettings() | Mistake() | BadUrl() | BadCursor():
            return USAGE, str(error)
        case StoreError() | CannotListen():
            return FAILURE, str(error)
        case ModuleNotFoundError(name="asyncpg"):
            return FAILURE, "PostgreSQL needs one more package: pip install 'tidemill[postgres]'"
        case PermissionError() | FileNotFoundError() | IsADirectoryError() | NotADirectoryError():
            return FAILURE, f"{error.filename or 'a file'}: {error.strerror}"
        case _:
            return FAILURE, None
