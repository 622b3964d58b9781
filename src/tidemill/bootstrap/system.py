"""Build the running system from the settings."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.bootstrap.actions import Actions, build_actions
from tidemill.bootstrap.browsers import build_browser
from tidemill.bootstrap.chores import build_chore_dependencies
from tidemill.bootstrap.cluster.broker import WorkerWaker, build_wakeups
from tidemill.bootstrap.enrichment import (
    OPTIONAL_TICKS,
    OutsideServices,
    build_discovery,
    build_enricher,
    build_enrichment_hints,
    build_outside_services,
    service_ticks,
)
from tidemill.bootstrap.fetchers import LANES, build_fetchers
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.live import build_live_lane, live_policy, with_live_breakers
from tidemill.bootstrap.live_health import LiveHealthParts, build_live_health
from tidemill.bootstrap.page_readers.pool import build_readers
from tidemill.bootstrap.paid_fetchers import PaidFetchers, build_paid_fetchers
from tidemill.bootstrap.plugins import UNUSABLE_PLUGINS
from tidemill.bootstrap.services import build_services
from tidemill.bootstrap.store import Store, build_store
from tidemill.bootstrap.verticals import LOADED_PLUGINS, UNLOADABLE_PLUGINS, UNUSABLE_ADAPTERS, VERTICALS
from tidemill.bootstrap.webhooks import WebhookSender, build_webhooks
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.engine.announcer import CommitAnnouncer
from tidemill.engine.chores import engine_chores, proof_chore
from tidemill.engine.clock import RealClock, real_dice
from tidemill.engine.drain import Drain
from tidemill.engine.live.lane import LiveLane
from tidemill.engine.periodic import Chore, ChoreRunner
from tidemill.engine.ports import PageReaders
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.fetching.bulk_rate_limits import BulkRateLimits
from tidemill.operations.discovery import DiscoveryActions
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.enrich import Enricher
from tidemill.pipeline.happenings import PartCrashed
from tidemill.pipeline.ports import Clock, Dice, Fetcher, HostRateLimits, Transport
from tidemill.plugin import Environment, Part, Parts, part_of
from tidemill.settings import Settings
from tidemill.store.database.database import Database, open_database
from tidemill.store.services.robots_answers import RobotsAnswers
from tidemill.store.services.status import Services


@dataclass(frozen=True, slots=True)
class System:
    """The whole system, wired: what the command line, the web app and the lab work with."""

    settings: Settings
    clock: Clock
    announce: Listeners
    verticals: Mapping[str, Vertical]
    store: Store
    services: Services
    webhooks: WebhookSender
    fetchers: Mapping[FetcherKind, Fetcher]
    tools: StageDependencies
    dispatcher: Dispatcher
    worker: Worker
    ticks: ChoreRunner
    supervisor: Supervisor
    waker: WorkerWaker
    make_drain: Callable[[], Drain]
    live_health: LiveHealthParts
    live: LiveLane | None
    readers: PageReaders | None
    outside_services: OutsideServices
    enricher: Enricher | None
    discovery: DiscoveryActions
    actions: Actions
    parts: Mapping[str, Parts]

    @property
    def tasks(self) -> Mapping[str, Callable[..., Coroutine[Any, Any, str]]]:
        """What a person can send to the workers of a cluster by name."""
        return {name: task for each in self.parts.values() for name, task in each.tasks.items()}

    def part(self, kind: type[Part]) -> Part:
        """Return what a vertical does in this system, by the type of its parts."""
        return part_of(self.parts, kind)

    async def close(self) -> None:
        """Close connections and files."""
        await self.waker.close()
        if self.readers is not None:
            await self.readers.close()
        for fetcher in self.fetchers.values():
            await fetcher.close()
        await self.webhooks.post.close()
        await self.outside_services.close()
        await self.store.close()


def build(
    settings: Settings,
    *,
    announce: Listeners | None = None,
    clock: Clock | None = None,
    dice: Dice | None = None,
    database: Database | None = None,
    transport: Transport | None = None,
    chores_after: timedelta = timedelta(0),
) -> System:
    """Wire a system; only the lab passes a clock, dice, a database or a transport of its own.

    Where beat starts the chores, a slot that is still free after `chores_after` is done here.
    """
    clock, dice, announce = clock or RealClock(), dice or real_dice(), announce or Listeners()
    announce_unusable_packages(announce, clock)
    opened = database or open_database(settings.database.get_secret_value())
    verticals = with_live_breakers(VERTICALS, settings)
    store = build_store(settings, opened, verticals, live_policy(settings))
    slots = BulkRateLimits(store.rate_limits, clock)
    services = build_services(settings, store.database, clock, announce)
    fetchers, paid_fetchers = build_every_fetcher(settings, store, clock, services, transport, slots)
    webhooks = build_webhooks(settings)
    worker = Worker(store.workers, clock, settings.worker_name, prepare=store.host_assignment.settle)
    tools = StageDependencies(
        clock, store.ids, store.breakers, fetchers, verticals, services, store.current_state, worker.is_current,
        paid_fetchers.fallback, build_enrichment_hints(settings, store), settings.reader_max_records,
    )  # fmt: skip
    readers = build_readers(settings, clock, announce)
    make_drain = drain_factory(settings, store, tools, dice, CommitAnnouncer(announce, clock), worker, readers)
    dispatcher = Dispatcher(store.agenda, verticals, clock, dice, announce, limits=settings.queue_limits)
    ticks = ChoreRunner(store.slots, clock, announce, worker.key)
    look_again = timedelta(seconds=settings.look_again_seconds)
    machine = clock if isinstance(clock, RealClock) else None
    live_health = build_live_health(store, clock, announce)
    live = build_live_lane(settings, store, tools, dice, announce, worker, slots, health=live_health.sink)
    supervisor = Supervisor(
        worker, ticks, make_drain, LANES, clock, announce, poll_interval=look_again, machine=machine, live=live,
        chores_after=chores_after,
    )  # fmt: skip
    waker = WorkerWaker(supervisor, build_wakeups(settings, store, services))
    chore_dependencies = build_chore_dependencies(
        settings, store, clock, announce, dispatcher, waker, services, paid_fetchers.apify,
        may_rescue=worker.may_rescue,
    )  # fmt: skip
    outside_services = build_outside_services(settings, clock)
    enricher = build_enricher(settings, store, clock, services, outside_services, dispatcher, waker.wake)
    discovery = build_discovery(
        settings, store, clock, announce, services, outside_services, fetchers[FetcherKind.HTTP]
    )
    environment = Environment(
        settings=settings, clock=clock, announce=announce, store=store.environment, views=store.views,
        audit=store.audit, agenda=store.agenda, dispatcher=dispatcher, fetchers=fetchers,
        verticals=verticals, post=webhooks.post, refusal=webhooks.guard.reason_to_refuse, wake=waker.wake,
    )  # fmt: skip
    parts = {name: plugin.build(environment, store.verticals[name]) for name, plugin in LOADED_PLUGINS.items()}
    chores = [
        *engine_chores(chore_dependencies),
        live_health.chore,
        *service_ticks(discovery, outside_services, enricher),
        *(tick for each in parts.values() for tick in each.chores),
        proof_chore(ticks, chore_dependencies),
    ]
    ticks.register(with_own_rhythms(chores, settings))
    actions = build_actions(settings, store, clock, dispatcher, ticks, waker.wake, services, parts=parts)
    return System(
        settings=settings,
        clock=clock,
        announce=announce,
        verticals=verticals,
        store=store,
        services=services,
        webhooks=webhooks,
        fetchers=fetchers,
        tools=tools,
        dispatcher=dispatcher,
        worker=worker,
        ticks=ticks,
        supervisor=supervisor,
        waker=waker,
        make_drain=make_drain,
        live_health=live_health,
        live=live,
        readers=readers,
        outside_services=outside_services,
        enricher=enricher,
        discovery=discovery,
        actions=actions,
        parts=parts,
    )


def with_own_rhythms(chores: Sequence[Chore], settings: Settings) -> list[Chore]:
    """The periodic work at this installation's own times."""
    rhythms = settings.rhythms(OPTIONAL_TICKS | {tick.name: tick.schedule for tick in chores})
    return [msgspec.structs.replace(tick, schedule=rhythms[tick.name]) for tick in chores]


def announce_unusable_packages(announce: Listeners, clock: Clock) -> None:
    """An installed adapter or vertical that cannot be loaded is left out, and said so: the others work on."""
    for kind, left_out in (("vertical", UNUSABLE_PLUGINS + UNLOADABLE_PLUGINS), ("adapter", UNUSABLE_ADAPTERS)):
        for broken in left_out:
            announce(PartCrashed(clock.now(), f"{kind} {broken.name}", f"{broken.where} is left out: {broken.reason}"))


def build_every_fetcher(
    settings: Settings,
    store: Store,
    clock: Clock,
    services: Services,
    transport: Transport | None,
    rate_limits: HostRateLimits,
) -> tuple[dict[FetcherKind, Fetcher], PaidFetchers]:
    """Return the fetchers by kind, and the paid ones with their fallback; all use the http fetcher's gates."""
    fetchers = build_fetchers(
        settings,
        clock,
        transport,
        rate_limits=rate_limits,
        services=services,
        robots_memory=RobotsAnswers(store.database),
    )
    paid_fetchers = build_paid_fetchers(settings, store, clock, services, fetchers[FetcherKind.HTTP], transport)
    fetchers |= paid_fetchers.fetchers
    fetchers[FetcherKind.BROWSER] = build_browser(settings, store, clock, services, fetchers[FetcherKind.HTTP])
    return fetchers, paid_fetchers


def drain_factory(
    settings: Settings,
    store: Store,
    tools: StageDependencies,
    dice: Dice,
    narrator: CommitAnnouncer,
    worker: Worker,
    readers: PageReaders | None,
) -> Callable[[], Drain]:
    """Return the function that makes a new drain."""

    def make_drain() -> Drain:
        return Drain(
            store.ledger,
            tools,
            dice,
            narrator,
            worker_id=worker.key,
            capacity=settings.jobs_in_hand,
            commits=1 if store.database.is_sqlite else 2,
            readers=readers,
            lane_capacity={FetcherKind.BROWSER.value: 2 * settings.browser_contexts},
        )

    return make_drain
