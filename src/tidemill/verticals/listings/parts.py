"""The parts of listings in a running system: repositories, market actions, chores."""

from dataclasses import dataclass

from tidemill.core.page import Page
from tidemill.pipeline.verify import Verifier
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.reading import Document, blocked
from tidemill.verticals.listings.actions import MarketActions, market_template
from tidemill.verticals.listings.chores import MarketChores
from tidemill.verticals.listings.exports import listing_dataset
from tidemill.verticals.listings.policy import DECAY, POLICY
from tidemill.verticals.listings.reading.emptiness import removal_notice
from tidemill.verticals.listings.store.counter import COUNTER
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.repository import ListingRepository
from tidemill.verticals.listings.store.verification import Verification
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.verticals.listings.tasks import market_tasks


@dataclass(frozen=True, kw_only=True)
class ListingsStore(VerticalStore):
    """Homes and markets: their repositories and views."""

    markets: Markets
    views: ListingViews
    verification: Verification


@dataclass(frozen=True, kw_only=True)
class ListingsParts(Parts):
    """The actions on markets, and the store of listings."""

    markets: MarketActions
    store: ListingsStore


def open_store(environment: StoreEnvironment) -> ListingsStore:
    """Return the store of listings."""
    database, ids = environment.database, environment.ids
    return ListingsStore(
        repository=ListingRepository(ids),
        counter=COUNTER,
        markets=Markets(database, ids, environment.sources, environment.targets),
        views=ListingViews(database, DECAY),
        verification=Verification(database, ids, DECAY),
    )


def build_parts(environment: Environment, store: ListingsStore) -> ListingsParts:
    """Build the market actions and chores."""
    clock, agenda = environment.clock, environment.agenda
    actions = MarketActions(
        store.markets, agenda, environment.dispatcher, environment.audit, clock, DECAY, environment.wake
    )
    verifier = Verifier(store.verification, environment.fetchers, POLICY, clock, read_notice)
    chores = MarketChores(clock, environment.announce, store.markets, store.verification, verifier, actions.shortfalls)
    return ListingsParts(
        chores=chores.chores(),
        explainers=[actions.explainer],
        templates=[market_template(store.markets.create_targets)],
        datasets=[listing_dataset(store.views, clock)],
        tasks=market_tasks(actions, chores, verifier),
        markets=actions,
        store=store,
    )


def read_notice(page: Page) -> str | None:
    """Return the removal notice on a page, '' if there is none; None for a block page."""
    document = Document.of(page)
    if notice := removal_notice(document):
        return notice
    return None if blocked(document) else ""
