"""The parts of prices in a running system: repositories, corrections, product links, webhooks."""

from dataclasses import dataclass
from datetime import timedelta

from tidemill.core.schedules import Every
from tidemill.engine.periodic import Chore
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.exports import price_datasets
from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.notices import Notifier
from tidemill.verticals.prices.store.corrections import CorrectionRepository
from tidemill.verticals.prices.store.counter import COUNTER
from tidemill.verticals.prices.store.links import ProductLinkRepository
from tidemill.verticals.prices.store.repository import PriceRepository
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.store.webhooks import WebhookRepository
from tidemill.verticals.prices.webhooks import WebhookActions

EVERY_MINUTE = Every(timedelta(minutes=1))


@dataclass(frozen=True, kw_only=True)
class PricesStore(VerticalStore):
    """Products, offers and prices as readers may see them, and what people say about them."""

    views: PriceReads
    corrections: CorrectionRepository
    links: ProductLinkRepository
    webhooks: WebhookRepository


@dataclass(frozen=True, kw_only=True)
class PricesParts(Parts):
    """The actions on prices, and the store of prices."""

    corrections: CorrectionActions
    links: LinkActions
    webhooks: WebhookActions
    notifier: Notifier
    store: PricesStore


def open_store(environment: StoreEnvironment) -> PricesStore:
    """Return the store of prices."""
    database, ids = environment.database, environment.ids
    return PricesStore(
        repository=PriceRepository(ids),
        counter=COUNTER,
        views=PriceReads(database),
        corrections=CorrectionRepository(database, ids),
        links=ProductLinkRepository(database, ids),
        webhooks=WebhookRepository(database, ids),
    )


def build_parts(environment: Environment, store: PricesStore) -> PricesParts:
    """Build the actions on prices, and the chore that notifies subscribers."""
    clock = environment.clock
    notifier = Notifier(store.webhooks, store.views, environment.post, clock)
    return PricesParts(
        chores=[Chore("notices", EVERY_MINUTE, notifier.notify, follows="services")],
        datasets=price_datasets(store.views),
        corrections=CorrectionActions(store.corrections, clock),
        links=LinkActions(store.links, clock),
        webhooks=WebhookActions(store.webhooks, environment.refusal, clock),
        notifier=notifier,
        store=store,
    )
