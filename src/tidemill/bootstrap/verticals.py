"""Which verticals there are, and where the records of each end up."""

from importlib.metadata import entry_points

from tidemill.bootstrap.adapters import GROUP, with_installed
from tidemill.core.enrichment import Enriching
from tidemill.core.vertical import Vertical
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.checkpoints import RecordRepository
from tidemill.verticals.events import VERTICAL as EVENTS
from tidemill.verticals.events.enrichment import ENRICHING as EVENTS_ENRICHING
from tidemill.verticals.events.store.repository import EnrichesEvents, EventRepository
from tidemill.verticals.listings import VERTICAL as LISTINGS
from tidemill.verticals.listings.store.repository import ListingRepository
from tidemill.verticals.prices import VERTICAL as PRICES
from tidemill.verticals.prices.store.repository import PriceRepository

_OWN: dict[str, Vertical] = {EVENTS.name: EVENTS, PRICES.name: PRICES, LISTINGS.name: LISTINGS}
_widened = with_installed(_OWN, entry_points(group=GROUP))
VERTICALS: dict[str, Vertical] = _widened[0]
"""Every vertical, with the adapters that installed packages bring."""
UNUSABLE_ADAPTERS = _widened[1]
"""Those of them that cannot be used, and why."""


ENRICHING: dict[str, Enriching] = {EVENTS.name: EVENTS_ENRICHING}
"""What may be asked about the records of a vertical. Prices are not here, and never will be."""


def build_repositories(ids: Ids, enrichment: EnrichesEvents | None = None) -> dict[str, RecordRepository]:
    """Each vertical's own tables; `enrichment` puts in what enrichment knows of events."""
    return {
        EVENTS.name: EventRepository(ids, enrichment),
        PRICES.name: PriceRepository(ids),
        LISTINGS.name: ListingRepository(ids),
    }
