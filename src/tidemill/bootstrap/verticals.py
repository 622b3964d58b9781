"""Which verticals there are, and where the records of each end up."""

from tidemill.core.vertical import Vertical
from tidemill.store.checkpoints import Shelf
from tidemill.store.events import EventShelf
from tidemill.store.ids import Ids
from tidemill.store.prices import PriceShelf
from tidemill.verticals.events import VERTICAL as EVENTS
from tidemill.verticals.prices import VERTICAL as PRICES

VERTICALS: dict[str, Vertical] = {EVENTS.name: EVENTS, PRICES.name: PRICES}


def build_shelves(ids: Ids) -> dict[str, Shelf]:
    """Each vertical's own tables."""
    return {EVENTS.name: EventShelf(ids), PRICES.name: PriceShelf(ids)}
