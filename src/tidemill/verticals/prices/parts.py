"""The parts of prices in a running system: repositories, corrections, product links, the feed of changes."""

from dataclasses import dataclass

from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.exports import price_datasets
from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.notices import price_feed
from tidemill.verticals.prices.store.corrections import CorrectionRepository
from tidemill.verticals.prices.store.counter import CHECKED, COUNTER
from tidemill.verticals.prices.store.links import ProductLinkRepository
from tidemill.verticals.prices.store.past import PastOffers
from tidemill.verticals.prices.store.replayed_prices import PriceReplays
from tidemill.verticals.prices.store.repository import PriceRepository
from tidemill.verticals.prices.store.stories import PriceStories
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.why import price_explainers


@dataclass(frozen=True, kw_only=True)
class PricesStore(VerticalStore):
    """Products, offers and prices as readers may see them, and what people say about them."""

    views: PriceReads
    past: PastOffers
    stories: PriceStories
    corrections: CorrectionRepository
    links: ProductLinkRepository


@dataclass(frozen=True, kw_only=True)
class PricesParts(Parts):
    """The actions on prices, and the store of prices."""

    corrections: CorrectionActions
    links: LinkActions
    store: PricesStore


def open_store(environment: StoreEnvironment) -> PricesStore:
    """Return the store of prices."""
    database, ids = environment.database, environment.ids
    return PricesStore(
        repository=PriceRepository(ids),
        counter=COUNTER,
        checked=CHECKED,
        replays=PriceReplays(ids),
        views=PriceReads(database),
        past=PastOffers(environment.database),
        stories=PriceStories(database),
        corrections=CorrectionRepository(database, ids),
        links=ProductLinkRepository(database, ids),
    )


def build_parts(environment: Environment, store: PricesStore) -> PricesParts:
    """Build the actions on prices, and the feed of their changes."""
    clock = environment.clock
    return PricesParts(
        explainers=price_explainers(store.stories, clock),
        feeds=[price_feed(store.views.changes, store.views.newest_change)],
        datasets=price_datasets(store.views, store.past),
        corrections=CorrectionActions(store.corrections, clock),
        links=LinkActions(store.links, clock),
        store=store,
    )
