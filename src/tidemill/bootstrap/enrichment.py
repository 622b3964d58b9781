"""The services that may know more than rules do, and what asks them: enrichment and discovery."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from tidemill.bootstrap.store import Store, folders_of
from tidemill.bootstrap.verticals import ENRICHING, VERTICALS
from tidemill.core.budget import Budget
from tidemill.core.degradation import Service
from tidemill.core.discovery import SearchProfile
from tidemill.core.pacing import Pace
from tidemill.core.run import Trigger
from tidemill.core.schedules import Cron, Every
from tidemill.core.vertical import Vertical
from tidemill.engine.periodic import Chore
from tidemill.operations.discovery import DiscoveryActions
from tidemill.pipeline.discover import Discoverer, DiscoveryLimits
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.enrich import Enricher, EnrichmentLimits
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.inspection import SiteInspector
from tidemill.pipeline.model_budget import BudgetedModel, TokenPrice
from tidemill.pipeline.ports import Clock, Fetcher, ServiceRegistry
from tidemill.pipeline.recovery import NormalizeEnrichment
from tidemill.services.geocoder import Nominatim
from tidemill.services.llm import Gemini
from tidemill.services.search import Serper
from tidemill.settings import Settings
from tidemill.store.services.answers import StoredHints
from tidemill.store.services.spending import SpendingRepository
from tidemill.store.services.spill import SpillFile

MICRO = 1_000_000

OPTIONAL_TICKS: dict[str, Every | Cron] = {"enrich": Every(timedelta(minutes=1))}
"""Work that is done only where a service may be asked; its rhythm may be set all the same."""


@dataclass(frozen=True, slots=True)
class OutsideServices:
    """The services that are set up; None is one that is not."""

    search: Serper | None
    model: Gemini | None
    geocoder: Nominatim | None

    async def close(self) -> None:
        """Let go of sockets."""
        for service in (self.search, self.model, self.geocoder):
            if service is not None:
                await service.close()


def build_askable(settings: Settings, clock: Clock) -> OutsideServices:
    """The clients of what has a key or an address."""
    timeout = timedelta(seconds=settings.service_timeout_seconds)
    search, key, address = settings.search_key, settings.llm_key, settings.geocoder_url
    spacing = timedelta(seconds=settings.geocoder_interval_seconds)
    return OutsideServices(
        search=Serper(settings.search_url, search.get_secret_value(), timeout=timeout) if search else None,
        model=Gemini(settings.llm_url, key.get_secret_value(), settings.llm_model, timeout=timeout) if key else None,
        geocoder=Nominatim(address, clock, user_agent=settings.user_agent, interval=spacing, timeout=timeout)
        if address
        else None,
    )


def build_aid(settings: Settings, store: Store) -> NormalizeEnrichment | None:
    """What normalizing may use besides rules; None when nobody is to be asked."""
    asks = settings.asks
    return NormalizeEnrichment(ENRICHING, StoredHints(store.answers), asks) if asks else None


def thrifty(settings: Settings, store: Store, clock: Clock, askable: OutsideServices) -> BudgetedModel | None:
    """The model within its budget."""
    if askable.model is None:
        return None
    budget = Budget(day=round(settings.llm_dollars_per_day * MICRO))
    price = TokenPrice(round(settings.llm_price_in * MICRO), round(settings.llm_price_out * MICRO))
    return BudgetedModel(
        askable.model, SpendingRepository(store.database), budget, price, clock, settings.llm_max_tokens
    )


def build_enricher(
    settings: Settings,
    store: Store,
    clock: Clock,
    services: ServiceRegistry,
    askable: OutsideServices,
    dispatcher: Dispatcher,
    wake: Callable[[int], None],
) -> Enricher | None:
    """The pass that asks what rules could not say; None when nobody is to be asked."""
    if not settings.asks:
        return None
    return Enricher(
        store.wants,
        store.answers,
        {name: each.enrichment for name, each in store.verticals.items() if each.enrichment is not None},
        ENRICHING,
        services,
        clock,
        geocoder=askable.geocoder if Service.GEOCODER in settings.asks else None,
        model=thrifty(settings, store, clock, askable) if Service.LLM in settings.asks else None,
        reread=rereader(store, dispatcher, wake),
        limits=EnrichmentLimits(batch=settings.llm_batch, micro_dollars=round(settings.llm_dollars_per_pass * MICRO)),
    )


def rereader(
    store: Store, dispatcher: Dispatcher, wake: Callable[[int], None]
) -> Callable[[Sequence[int]], Awaitable[int]]:
    """Takes up targets at once whose lost records can be saved, under the queue's own limits."""

    async def reread(target_ids: Sequence[int]) -> int:
        done, _ = await dispatcher.enqueue(await store.agenda.of_targets(list(target_ids)), Trigger.RECHECK)
        wake(done.workers)
        return done.jobs

    return reread


def build_discovery(
    settings: Settings,
    store: Store,
    clock: Clock,
    announce: Announce,
    services: ServiceRegistry,
    askable: OutsideServices,
    fetcher: Fetcher,
) -> DiscoveryActions:
    """Discovery, and what a person can do about it."""
    pace = Pace(timedelta(seconds=settings.discovery_interval_seconds))
    vertical, profile = discovering_vertical()
    look = SiteInspector(vertical, profile, fetcher, clock, pace)
    discoverer = Discoverer(
        store.places,
        store.searches,
        store.candidates,
        look,
        services,
        clock,
        announce,
        SpillFile(spill_folder(settings, store), "discovered"),
        search=askable.search,
        model=thrifty(settings, store, clock, askable),
        limits=DiscoveryLimits(places=settings.discovery_places, more_noise=frozenset(settings.discovery_noise)),
    )
    return DiscoveryActions(
        discoverer,
        store.candidates,
        store.places,
        store.searches,
        store.sources,
        store.targets,
        clock,
        vertical=vertical.name,
        adapter_id=profile.adapter_id,
        auto_enable=settings.discovery_auto_enable,
    )


def discovering_vertical() -> tuple[Vertical, SearchProfile]:
    """The vertical whose sources are searched for, and by what; there is one today."""
    return next((each, each.discovery) for each in VERTICALS.values() if each.discovery is not None)


def spill_folder(settings: Settings, store: Store) -> Path:
    """Where discovery writes when the database is away: beside its file, or where we are."""
    return settings.discovery_folder or next(iter(folders_of(settings, store.database)), Path())


def service_ticks(discovery: DiscoveryActions, askable: OutsideServices, enricher: Enricher | None) -> list[Chore]:
    """The periodic work that asks outside services: weekly discovery, and enrichment where somebody may be asked."""

    async def discover() -> str:
        if askable.search is None:
            return "no search service is set up (see `search_key`)"
        done, enabled = await discovery.run()
        return f"{len(done.places)} places, {done.asked} questions, {done.pending} candidates, {enabled} switched on"

    ticks = [Chore("discover", Cron("0 3 * * 0"), discover)]
    if enricher is not None:
        ticks += [Chore(name, rhythm, partial(enriched, enricher)) for name, rhythm in OPTIONAL_TICKS.items()]
    return ticks


async def enriched(enricher: Enricher) -> str:
    """One pass of enrichment, in a few words."""
    return str(await enricher.enrich())
