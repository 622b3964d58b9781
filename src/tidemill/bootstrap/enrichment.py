"""Build what asks outside services: enrichment and discovery."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from tidemill.bootstrap.store import Store, written_folders
from tidemill.bootstrap.verticals import ENRICHING, VERTICALS
from tidemill.core.discovery.search import SearchProfile
from tidemill.core.pacing import Pace
from tidemill.core.run import Trigger
from tidemill.core.schedules import Cron, Every
from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
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
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.recovery import NormalizeEnrichment
from tidemill.services.budgeted_search import BudgetedSearch
from tidemill.services.geocoder import Nominatim
from tidemill.services.llm import Gemini
from tidemill.services.search import Serper
from tidemill.settings import Settings
from tidemill.store.services.answers import StoredHints
from tidemill.store.services.spending import SpendingRepository
from tidemill.store.services.spill import SpillFile

MICRO_DOLLARS = 1_000_000

OPTIONAL_TICKS: dict[str, Every | Cron] = {"enrich": Every(timedelta(minutes=1))}
"""Work that is done only where a service may be asked; its rhythm may be set all the same."""

DISCOVERY_BEGINS_WITHIN = timedelta(hours=1)
"""A new search key must not pay at once for last Sunday; a restart on Sunday at three must not lose the week."""


@dataclass(frozen=True, slots=True)
class OutsideServices:
    """The clients of the services that are set up; None for one that is not."""

    search: Serper | None
    model: Gemini | None
    geocoder: Nominatim | None

    async def close(self) -> None:
        """Close the connections."""
        for service in (self.search, self.model, self.geocoder):
            if service is not None:
                await service.close()


def build_outside_services(settings: Settings, clock: Clock) -> OutsideServices:
    """Build the clients of the services that have a key or an address."""
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


def build_enrichment_hints(settings: Settings, store: Store) -> NormalizeEnrichment | None:
    """Return what normalizing may use besides rules; None when no service is to be asked."""
    asks = settings.enrichment_services
    return NormalizeEnrichment(ENRICHING, StoredHints(store.answers), asks) if asks else None


def build_budgeted_model(
    settings: Settings, store: Store, clock: Clock, outside_services: OutsideServices
) -> BudgetedModel | None:
    """Return the model within its budget; None when none is set up."""
    if outside_services.model is None:
        return None
    budget = Budget(day=round(settings.llm_dollars_per_day * MICRO_DOLLARS))
    price = TokenPrice(round(settings.llm_price_in * MICRO_DOLLARS), round(settings.llm_price_out * MICRO_DOLLARS))
    return BudgetedModel(
        outside_services.model, SpendingRepository(store.database), budget, price, clock, settings.llm_max_tokens
    )


def build_budgeted_search(
    settings: Settings, store: Store, clock: Clock, outside_services: OutsideServices
) -> BudgetedSearch | None:
    """Return the search within its budget of questions; None when none is set up."""
    if outside_services.search is None:
        return None
    budget = Budget(month=settings.discovery_questions_per_month)
    return BudgetedSearch(outside_services.search, SpendingRepository(store.database), budget, clock)


def build_enricher(
    settings: Settings,
    store: Store,
    clock: Clock,
    services: ServiceRegistry,
    outside_services: OutsideServices,
    dispatcher: Dispatcher,
    wake: Callable[[int], None],
) -> Enricher | None:
    """Build the enricher, which asks what rules could not tell; None when no service is to be asked."""
    if not settings.enrichment_services:
        return None
    return Enricher(
        store.enrichment_requests,
        store.answers,
        {name: each.enrichment for name, each in store.verticals.items() if each.enrichment is not None},
        ENRICHING,
        services,
        clock,
        geocoder=outside_services.geocoder if Service.GEOCODER in settings.enrichment_services else None,
        model=build_budgeted_model(settings, store, clock, outside_services)
        if Service.LLM in settings.enrichment_services
        else None,
        reread=reread_action(store, dispatcher, wake),
        limits=EnrichmentLimits(
            batch=settings.llm_batch, micro_dollars=round(settings.llm_dollars_per_pass * MICRO_DOLLARS)
        ),
    )


def reread_action(
    store: Store, dispatcher: Dispatcher, wake: Callable[[int], None]
) -> Callable[[Sequence[int]], Awaitable[int]]:
    """Return the function that enqueues targets at once whose lost records can be saved, within the queue's limits."""

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
    outside_services: OutsideServices,
    fetcher: Fetcher,
    readers: FunctionReaders,
) -> DiscoveryActions:
    """Build discovery and its actions."""
    pace = Pace(timedelta(seconds=settings.discovery_interval_seconds))
    vertical, profile = discovering_vertical()
    look = SiteInspector(vertical, profile, fetcher, clock, readers, pace)
    discoverer = Discoverer(
        store.places,
        store.searches,
        store.candidates,
        look,
        services,
        clock,
        announce,
        SpillFile(spill_folder(settings, store), "discovered"),
        search=build_budgeted_search(settings, store, clock, outside_services),
        model=build_budgeted_model(settings, store, clock, outside_services),
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
    """Return the vertical whose sources are searched for, and its search profile; there is one today."""
    return next((each, each.discovery) for each in VERTICALS.values() if each.discovery is not None)


def spill_folder(settings: Settings, store: Store) -> Path:
    """Return where discovery writes while the database is away: its setting, or else the database's folder."""
    return settings.discovery_folder or next(iter(written_folders(settings, store.database)), Path())


def service_ticks(
    discovery: DiscoveryActions, outside_services: OutsideServices, enricher: Enricher | None
) -> list[Chore]:
    """Return the periodic work that asks outside services: weekly discovery, and enrichment if it is set up."""

    async def discover() -> str:
        if outside_services.search is None:
            return "no search service is set up (see `search_key`)"
        done, enabled = await discovery.run()
        words = f"{len(done.places)} places, {done.asked} questions, {done.pending} candidates, {enabled} switched on"
        return "; ".join((words, *done.budget_words))

    ticks = [Chore("discover", Cron("0 3 * * 0"), discover, begins_within=DISCOVERY_BEGINS_WITHIN)]
    if enricher is not None:
        ticks += [Chore(name, rhythm, partial(run_enrichment, enricher)) for name, rhythm in OPTIONAL_TICKS.items()]
    return ticks


async def run_enrichment(enricher: Enricher) -> str:
    """Run one pass of enrichment and return its summary."""
    return str(await enricher.enrich())
