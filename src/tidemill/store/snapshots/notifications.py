"""PostgreSQL's notifications of commits: another process wrote to the log."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from tidemill.store.database.database import Database
from tidemill.store.database.notifications import hearing
from tidemill.store.snapshots.log import CHANNEL


def commit_notifications(database: Database, callback: Callable[[], None]) -> AbstractAsyncContextManager[None]:
    """Call back after each commit to the log by any process, while entered.

    A notification that is lost costs its readers the second until somebody looks.
    """
    return hearing(database, CHANNEL, lambda _: callback())
