"""Build the running system from the settings."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tidemill.bootstrap.actions import Actions, build_actions
from tidemill.bootstrap.cluster.broker import WorkerWaker
from tidemill.bootstrap.engine.foundation import Foundation, lay_foundation
from tidemill.bootstrap.engine.periodic import periodic_work
from tidemill.bootstrap.engine.workers import WorkerParts, build_workers
from tidemill.bootstrap.enrichment import (
    OutsideServices,
    build_discovery,
    build_enricher,
    build_outside_services,
    service_ticks,
)
from tidemill.bootstrap.fetching.feeds import build_feeds, feeds_chore
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.live.health import LiveHealthParts
from tidemill.bootstrap.live.shared_snapshots import SharedSnapshots
from tidemill.bootstrap.page_readers.replays import build_replays
from tidemill.bootstrap.store import Store
from tidemill.bootstrap.verticals import LOADED_PLUGINS
from tidemill.bootstrap.watching.alerts import AlertParts, build_alerts
from tidemill.bootstrap.webhooks import WebhookSender, build_notifier, build_webhooks, notices_chore
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.engine.beat_watch import BeatWatch
from tidemill.engine.by_hand import DrainFactory
from tidemill.engine.live.lane import LiveLane
from tidemill.engine.periodic import ChoreRunner
from tidemill.engine.ports import PageReaders
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.operations.discovery import DiscoveryActions
from tidemill.operations.webhooks.actions import WebhookActions
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.enrich import Enricher
from tidemill.pipeline.ports import Clock, Dice, Fetcher, Transport
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.plugin import Environment, Part, Parts, part_of
from tidemill.settings import Settings
from tidemill.store.database.database import Database
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
    beat: BeatWatch | None
    make_drain: DrainFactory
    live_health: LiveHealthParts
    shared: SharedSnapshots | None
    live: LiveLane | None
    readers: PageReaders | None
    function_readers: FunctionReaders
    outside_services: OutsideServices
    enricher: Enricher | None
    discovery: DiscoveryActions
    actions: Actions
    parts: Mapping[str, Parts]
    alerts: AlertParts

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
        await self.alerts.close()
        await self.webhooks.post.close()
        await self.outside_services.close()
        if self.shared is not None:
            await self.shared.redis.close()
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
    has_chores: bool = True,
) -> System:
    """Wire a system; only the lab passes a clock, dice, a database or a transport of its own.

    Where beat starts the chores, a slot that is still free after `chores_after` is done here. Without `has_chores`
    the supervisor leaves them to other processes.
    """
    base = lay_foundation(settings, announce=announce, clock=clock, dice=dice, database=database)
    workers = build_workers(base, transport, chores_after=chores_after, has_chores=has_chores)
    clock, announce, store, services = base.clock, base.announce, base.store, base.services
    webhooks = build_webhooks(settings)
    outside = build_outside_services(settings, clock)
    wake = workers.waker.wake
    enricher = build_enricher(settings, store, clock, services, outside, workers.dispatcher, wake)
    plain = workers.fetchers[FetcherKind.HTTP]
    discovery = build_discovery(settings, store, clock, announce, services, outside, plain, workers.function_readers)
    parts = build_parts(base, workers)
    notifier = build_notifier(store, parts, webhooks, clock)
    feeds = build_feeds(base, workers, parts)
    alerts = build_alerts(
        settings, store, clock, announce, services, webhooks, workers.ticks,
        verticals=base.verticals, parts=parts, transport=transport,
    )  # fmt: skip
    replays = build_replays(settings, store, workers.tools, workers.readers, base.verticals)
    further = [
        *service_ticks(discovery, outside, enricher),
        notices_chore(notifier),
        feeds_chore(feeds),
        *(chore for each in parts.values() for chore in each.chores),
        *alerts.chores,
    ]
    workers.ticks.register(periodic_work(base, workers, replays, further))
    actions = build_actions(
        settings, store, clock, workers.dispatcher, workers.ticks, wake, services, replays,
        readers=workers.function_readers, parts=parts, alerts=alerts, announce=announce, feeds=feeds,
        webhooks=WebhookActions(store.webhooks, notifier, webhooks.guard.reason_to_refuse, clock),
    )  # fmt: skip
    return System(
        settings=settings, clock=clock, announce=announce, verticals=base.verticals, store=store, services=services,
        webhooks=webhooks, fetchers=workers.fetchers, tools=workers.tools, dispatcher=workers.dispatcher,
        worker=workers.worker, ticks=workers.ticks, supervisor=workers.supervisor, waker=workers.waker,
        beat=workers.beat, make_drain=workers.make_drain, live_health=workers.live_health, shared=workers.shared,
        live=workers.live, readers=workers.readers, function_readers=workers.function_readers,
        outside_services=outside, enricher=enricher, discovery=discovery, actions=actions, parts=parts, alerts=alerts,
    )  # fmt: skip


def build_parts(base: Foundation, workers: WorkerParts) -> dict[str, Parts]:
    """Return what each installed vertical does in this system."""
    environment = Environment(
        settings=base.settings, clock=base.clock, announce=base.announce, store=base.store.environment,
        views=base.store.views, audit=base.store.audit, agenda=base.store.agenda, dispatcher=workers.dispatcher,
        fetchers=workers.fetchers, verticals=base.verticals, wake=workers.waker.wake, readers=workers.function_readers,
    )  # fmt: skip
    return {name: plugin.build(environment, base.store.verticals[name]) for name, plugin in LOADED_PLUGINS.items()}
