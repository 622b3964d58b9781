"""Settings in, running system out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from tidemill.bootstrap.actions import Actions, build_actions
from tidemill.bootstrap.browsers import build_browser
from tidemill.bootstrap.chores import build_chore_dependencies
from tidemill.bootstrap.enrichment import (
    OutsideServices,
    build_aid,
    build_askable,
    build_discovery,
    build_enricher,
    discovering_chore,
    enriching_chore,
)
from tidemill.bootstrap.fetchers import LANES, build_fetchers
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.listings import build_market_work
from tidemill.bootstrap.paid_fetchers import PaidFetchers, build_paid
from tidemill.bootstrap.services import build_services
from tidemill.bootstrap.store import Store, build_store
from tidemill.bootstrap.verticals import UNUSABLE_ADAPTERS, VERTICALS
from tidemill.bootstrap.webhooks import WebhookParts, build_notices
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.engine.chores import RHYTHMS, periodic_work, with_proof
from tidemill.engine.clock import RealClock, real_dice
from tidemill.engine.drain import Drain
from tidemill.engine.narrator import Narrator
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.engine.ticks import Tick, Ticks
from tidemill.operations.discovery import DiscoveryActions
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.enrich import Enricher
from tidemill.pipeline.happenings import PartCrashed
from tidemill.pipeline.ports import Clock, Dice, Fetcher, Transport
from tidemill.settings import Settings
from tidemill.store.database.database import Database, open_database
from tidemill.store.services.status import Services
from tidemill.verticals.listings.chores import MARKET_RHYTHMS


@dataclass(frozen=True, slots=True)
class System:
    """Everything, wired: what the command line, the web app and the lab work with."""

    settings: Settings
    clock: Clock
    announce: Listeners
    verticals: Mapping[str, Vertical]
    store: Store
    services: Services
    notices: WebhookParts
    fetchers: Mapping[FetcherKind, Fetcher]
    tools: StageDependencies
    dispatcher: Dispatcher
    worker: Worker
    ticks: Ticks
    supervisor: Supervisor
    make_drain: Callable[[], Drain]
    askable: OutsideServices
    enricher: Enricher | None
    discovery: DiscoveryActions
    actions: Actions

    async def close(self) -> None:
        """Let go of sockets, files and connections."""
        for fetcher in self.fetchers.values():
            await fetcher.close()
        await self.notices.post.close()
        await self.askable.close()
        await self.store.close()


def build(
    settings: Settings,
    *,
    announce: Listeners | None = None,
    clock: Clock | None = None,
    dice: Dice | None = None,
    database: Database | None = None,
    transport: Transport | None = None,
) -> System:
    """Wire a system; only the lab passes a clock, dice, a database or a transport of its own."""
    clock, dice, announce = clock or RealClock(), dice or real_dice(), announce or Listeners()
    tell_of_unusable_adapters(announce, clock)
    store = build_store(settings, database or open_database(settings.database.get_secret_value()))
    services = build_services(settings, store.database, clock, announce)
    fetchers, paid = build_every_fetcher(settings, store, clock, services, transport)
    notices = build_notices(settings, store, clock)
    worker = Worker(store.workers, clock, prepare=store.counting.settle)
    tools = StageDependencies(
        clock, store.ids, store.breakers, fetchers, VERTICALS, services, store.standing, worker.holds, paid.fallback,
        build_aid(settings, store),
    )  # fmt: skip
    make_drain = drain_maker(settings, store, tools, dice, Narrator(announce, clock), worker)
    dispatcher = Dispatcher(store.agenda, VERTICALS, clock, dice, announce, limits=settings.queue_limits)
    ticks = Ticks([], store.slots, clock, announce, worker.key)
    look_again = timedelta(seconds=settings.look_again_seconds)
    supervisor = Supervisor(worker, ticks, make_drain, LANES, clock, announce, look_again=look_again)
    hands = build_chore_dependencies(
        settings, store, clock, announce, dispatcher, supervisor, services, paid.apify, notify=notices.notifier.notify
    )  # fmt: skip
    rhythms = settings.rhythms({**RHYTHMS, **MARKET_RHYTHMS})
    ticks.add(periodic_work(hands, rhythms))
    askable = build_askable(settings, clock)
    enricher = build_enricher(settings, store, clock, services, askable, dispatcher, supervisor.wake)
    discovery = build_discovery(settings, store, clock, announce, services, askable, fetchers[FetcherKind.HTTP])
    chores = {"discover": discovering_chore(discovery, askable)}
    chores |= {"enrich": enriching_chore(enricher)} if enricher is not None else {}
    ticks.add(Tick(name, rhythms[name], chore) for name, chore in chores.items())
    actions = build_actions(settings, store, clock, dispatcher, ticks, supervisor.wake, services, notices)
    ticks.add(build_market_work(store, fetchers, clock, announce, actions.markets, rhythms))
    with_proof(ticks, hands, rhythms["proof"])
    return System(
        settings=settings,
        clock=clock,
        announce=announce,
        verticals=VERTICALS,
        store=store,
        services=services,
        notices=notices,
        fetchers=fetchers,
        tools=tools,
        dispatcher=dispatcher,
        worker=worker,
        ticks=ticks,
        supervisor=supervisor,
        make_drain=make_drain,
        askable=askable,
        enricher=enricher,
        discovery=discovery,
        actions=actions,
    )


def tell_of_unusable_adapters(announce: Listeners, clock: Clock) -> None:
    """An adapter that cannot be loaded is left out, and said so: the others work on."""
    for broken in UNUSABLE_ADAPTERS:
        announce(PartCrashed(clock.now(), f"adapter {broken.name}", f"{broken.where} is left out: {broken.reason}"))


def build_every_fetcher(
    settings: Settings, store: Store, clock: Clock, services: Services, transport: Transport | None
) -> tuple[dict[FetcherKind, Fetcher], PaidFetchers]:
    """The fetchers by kind, and what the paid ones are kept by; all of them stand behind the first one's gates."""
    fetchers = build_fetchers(settings, clock, transport, rate_limits=store.rate_limits, services=services)
    paid = build_paid(settings, store, clock, services, fetchers[FetcherKind.HTTP], transport)
    fetchers |= paid.fetchers
    fetchers[FetcherKind.BROWSER] = build_browser(settings, store, clock, services, fetchers[FetcherKind.HTTP])
    return fetchers, paid


def drain_maker(
    settings: Settings, store: Store, tools: StageDependencies, dice: Dice, narrator: Narrator, worker: Worker
) -> Callable[[], Drain]:
    """How a fresh drain is made."""

    def make() -> Drain:
        return Drain(
            store.ledger,
            tools,
            dice,
            narrator,
            worker_id=worker.key,
            capacity=settings.jobs_in_hand,
            commits=1 if store.database.is_sqlite else 2,
            narrow={FetcherKind.BROWSER.value: 2 * settings.browser_contexts},
        )

    return make
