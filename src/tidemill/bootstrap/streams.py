"""Build what serves streams: the hub over the log of changes, for all verticals."""

from functools import partial

from tidemill.bootstrap.store import Store
from tidemill.pipeline.ports import Clock
from tidemill.store.snapshots.epochs import Epochs
from tidemill.store.snapshots.notifications import commit_notifications
from tidemill.web.stream.access import StreamAccess
from tidemill.web.stream.hub import StreamHub


def build_streams(store: Store, clock: Clock) -> StreamAccess:
    """Return the access to streams of this process; nothing is asked before the first reader comes."""
    hub = StreamHub(
        store.change_log,
        store.snapshots,
        Epochs(store.database, clock),
        clock,
        notifications=partial(commit_notifications, store.database),
    )
    return StreamAccess(hub, store.snapshots.changes)
