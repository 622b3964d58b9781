"""What prices have and do in a running system: tables, corrections, links between offers and products."""

from dataclasses import dataclass

from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.store.corrections import CorrectionRepository
from tidemill.verticals.prices.store.links import ProductLinkRepository
from tidemill.verticals.prices.store.repository import PriceRepository
from tidemill.verticals.prices.store.views import PriceReads


@dataclass(frozen=True, kw_only=True)
class PricesStore(VerticalStore):
    """Products, offers and prices as readers may see them, and what people say about them."""

    views: PriceReads
    corrections: CorrectionRepository
    links: ProductLinkRepository


@dataclass(frozen=True, kw_only=True)
class PricesParts(Parts):
    """What people can do about prices, and the tables behind it."""

    corrections: CorrectionActions
    links: LinkActions
    store: PricesStore


def open_store(environment: StoreEnvironment) -> PricesStore:
    """The tables of prices."""
    database, ids = environment.database, environment.ids
    return PricesStore(
        repository=PriceRepository(ids),
        views=PriceReads(database),
        corrections=CorrectionRepository(database, ids),
        links=ProductLinkRepository(database, ids),
    )


def build_parts(environment: Environment, store: PricesStore) -> PricesParts:
    """What people can do about prices."""
    return PricesParts(
        corrections=CorrectionActions(store.corrections, environment.clock),
        links=LinkActions(store.links, environment.clock),
        store=store,
    )
