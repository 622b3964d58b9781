"""The parts of listings in a running system: repositories, market actions, chores."""

from dataclasses import dataclass
from functools import partial

from tidemill.operations.webhooks.feeds import record_feed
from tidemill.pipeline.verify import Verifier
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.store.records.changes import RecordChangeReads
from tidemill.verticals.listings.actions import MarketActions, market_template
from tidemill.verticals.listings.chores import MarketChores
from tidemill.verticals.listings.exports import listing_dataset
from tidemill.verticals.listings.policy import DECAY, POLICY
from tidemill.verticals.listings.store.corrections import ListingCorrections
from tidemill.verticals.listings.store.counter import CHECKED, COUNTER
from tidemill.verticals.listings.store.home_changes import CHANGE_KINDS
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.past import PastListings
from tidemill.verticals.listings.store.repository import ListingRepository
from tidemill.verticals.listings.store.verification import Verification
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.verticals.listings.tasks import market_tasks
from tidemill.verticals.listings.why import listing_explainer


@dataclass(frozen=True, kw_only=True)
class ListingsStore(VerticalStore):
    """Homes and markets: their repositories and views."""

    markets: Markets
    views: ListingViews
    changes: RecordChangeReads
    past: PastListings
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
        checked=CHECKED,
        replays=ListingCorrections(ids),
        markets=Markets(database, ids, environment.sources, environment.targets),
        views=ListingViews(database, DECAY),
        changes=RecordChangeReads(database, "listings"),
        past=PastListings(database, DECAY),
        verification=Verification(database, ids, DECAY),
    )


def build_parts(environment: Environment, store: ListingsStore) -> ListingsParts:
    """Build the market actions and chores."""
    clock, agenda = environment.clock, environment.agenda
    actions = MarketActions(
        store.markets, agenda, environment.dispatcher, environment.audit, clock, DECAY, environment.wake
    )
    verifier = Verifier(store.verification, environment.fetchers, POLICY, clock, "listings", environment.readers)
    chores = MarketChores(clock, environment.announce, store.markets, store.verification, verifier, actions.shortfalls)
    return ListingsParts(
        chores=chores.chores(),
        explainers=[listing_explainer(store.views.one, DECAY, clock.now), actions.explainer],
        templates=[market_template(store.markets.create_targets)],
        feeds=[record_feed("listings", store.changes, CHANGE_KINDS)],
        datasets=[listing_dataset(store.views, store.past, clock)],
        tasks=market_tasks(actions, chores, verifier),
        overdue_scopes=partial(late_markets, actions),
        markets=actions,
        store=store,
    )


async def late_markets(markets: MarketActions) -> list[tuple[str, str]]:
    """Return the markets that were not scraped in time, each with words."""
    return [(f"market {each.market}", each.words) for each in await markets.shortfalls() if each.rule == "overdue"]
