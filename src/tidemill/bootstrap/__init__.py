"""The composition root: settings in, running system out. One module per thing that is put together."""

from tidemill.bootstrap.actions import Actions
from tidemill.bootstrap.fetchers import LANES, build_fetchers
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.store import Store, build_store
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.verticals import VERTICALS

__all__ = [
    "LANES",
    "VERTICALS",
    "Actions",
    "Listeners",
    "Store",
    "System",
    "build",
    "build_fetchers",
    "build_store",
]
