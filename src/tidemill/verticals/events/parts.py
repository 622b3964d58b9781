"""What events have and do in a running system: tables, the cards that readers see, exports."""

from dataclasses import dataclass
from datetime import timedelta

from tidemill.core.schedules import Every
from tidemill.engine.periodic import Chore
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.verticals.events.enrichment import ENRICHING
from tidemill.verticals.events.export import Exporter
from tidemill.verticals.events.feed import Weights
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.counter import COUNTER
from tidemill.verticals.events.store.enrichment import EventEnrichment
from tidemill.verticals.events.store.publishing import Publisher
from tidemill.verticals.events.store.repository import EventRepository
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.why import event_explainer

EVERY_FIVE_MINUTES = Every(timedelta(minutes=5))


@dataclass(frozen=True, kw_only=True)
class EventsStore(VerticalStore):
    """Events as sources tell of them, and cards as readers see them."""

    publisher: Publisher
    views: EventViews


@dataclass(frozen=True, kw_only=True)
class EventsParts(Parts):
    """What people can do with events; `feed_weights` rank a feed unless a request brings its own."""

    exporter: Exporter
    cards: CardReader
    feed_weights: Weights
    store: EventsStore


def open_store(environment: StoreEnvironment) -> EventsStore:
    """The tables of events; answers of outside services are put into records where somebody may be asked."""
    database, ids, asks = environment.database, environment.ids, environment.asks
    enrichment = EventEnrichment(database, ids, ENRICHING, asks) if asks else None
    return EventsStore(
        repository=EventRepository(ids, enrichment),
        counter=COUNTER,
        enrichment=enrichment,
        publisher=Publisher(database),
        views=EventViews(database),
    )


def build_parts(environment: Environment, store: EventsStore) -> EventsParts:
    """The export, and the chore that makes cards."""

    async def publish() -> str:
        return f"{await store.publisher.publish(environment.clock.now())} events"

    return EventsParts(
        chores=[Chore("publish_events", EVERY_FIVE_MINUTES, publish, follows="stale_jobs")],
        explainers=[
            event_explainer(store.views, environment.views, environment.verticals["events"], environment.clock)
        ],
        exporter=Exporter(store.views, environment.store.sources, environment.audit, environment.clock),
        cards=CardReader(environment.store.database, environment.clock),
        feed_weights=Weights(**{str(name): weight for name, weight in environment.settings.feed_weights.items()}),
        store=store,
    )
