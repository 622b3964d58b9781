"""The parts of events in a running system: repositories, cards that readers see, exports."""

from dataclasses import dataclass
from datetime import timedelta

from tidemill.core.schedules import Every
from tidemill.engine.periodic import Chore
from tidemill.operations.webhooks.feeds import record_feed
from tidemill.plugin import Environment, Parts, StoreEnvironment, VerticalStore
from tidemill.store.records.changes import RecordChangeReads
from tidemill.verticals.events.enrichment import ENRICHMENT_RULES
from tidemill.verticals.events.exports import event_datasets
from tidemill.verticals.events.feed import Weights
from tidemill.verticals.events.store.card_changes import CHANGE_KINDS
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.corrections import EventCorrections
from tidemill.verticals.events.store.counter import CHECKED, COUNTER
from tidemill.verticals.events.store.enrichment import EventEnrichment
from tidemill.verticals.events.store.past import PastEvents
from tidemill.verticals.events.store.publishing import Publisher
from tidemill.verticals.events.store.repository import EventRepository
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.why import event_explainer

EVERY_FIVE_MINUTES = Every(timedelta(minutes=5))


@dataclass(frozen=True, kw_only=True)
class EventsStore(VerticalStore):
    """The store of events as sources have them, and of cards as readers see them."""

    publisher: Publisher
    views: EventViews
    changes: RecordChangeReads
    past: PastEvents


@dataclass(frozen=True, kw_only=True)
class EventsParts(Parts):
    """The cards of events; `feed_weights` rank a feed unless a request has its own."""

    cards: CardReader
    feed_weights: Weights
    store: EventsStore


def open_store(environment: StoreEnvironment) -> EventsStore:
    """Return the store of events, with enrichment if outside services are set up."""
    database, ids, asks = environment.database, environment.ids, environment.asks
    enrichment = EventEnrichment(database, ids, ENRICHMENT_RULES, asks) if asks else None
    return EventsStore(
        repository=EventRepository(ids, enrichment),
        counter=COUNTER,
        checked=CHECKED,
        enrichment=enrichment,
        replays=EventCorrections(ids),
        publisher=Publisher(database),
        views=EventViews(database),
        changes=RecordChangeReads(database, "events"),
        past=PastEvents(database),
    )


def build_parts(environment: Environment, store: EventsStore) -> EventsParts:
    """Build what can be exported, and the chore that publishes cards."""
    cards = CardReader(environment.store.database, environment.clock, publisher=store.publisher)

    async def publish() -> str:
        return f"{await store.publisher.publish(environment.clock.now())} events"

    async def publish_new() -> object:
        return await store.publisher.publish_new(environment.clock.now())

    return EventsParts(
        chores=[Chore("publish_events", EVERY_FIVE_MINUTES, publish, follows="stale_jobs")],
        after_runs=[publish_new],
        explainers=[event_explainer(store.views, environment.views, environment.readers, environment.clock)],
        feeds=[record_feed("events", store.changes, CHANGE_KINDS)],
        datasets=event_datasets(store.views, store.past, cards, environment.clock),
        cards=cards,
        feed_weights=Weights(**{str(name): weight for name, weight in environment.settings.feed_weights.items()}),
        store=store,
    )
