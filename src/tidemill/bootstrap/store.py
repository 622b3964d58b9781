"""What is kept: the database, and every concern on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tidemill.bootstrap.verticals import LOADED_PLUGINS, VERTICALS
from tidemill.core.policy import validated
from tidemill.plugin import StoreEnvironment, VerticalStore
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.ledger.host_assignment import HostAssignment
from tidemill.store.ledger.ledger import Ledger
from tidemill.store.ledger.overbooked import OverbookedHosts
from tidemill.store.ledger.rate_limits import RateLimitRepository
from tidemill.store.ledger.recheck import CurrentStateReader
from tidemill.store.ledger.retries import DeadLetterRetries
from tidemill.store.ledger.scheduling import DispatchRepository
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.ledger.ticks import TickSlots
from tidemill.store.ledger.workers import Workers
from tidemill.store.pages.bodies import Bodies, bodies_for
from tidemill.store.quality.quarantine import QuarantineRepository
from tidemill.store.services.answers import AnswerRepository
from tidemill.store.services.browsers import BrowserRepository
from tidemill.store.services.enrichment_requests import EnrichmentRequestRepository
from tidemill.store.sources.candidates import CandidateRepository
from tidemill.store.sources.hosts import Paces
from tidemill.store.sources.places import PlaceRepository, SearchRepository
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that is kept, each concern by its own name."""

    database: Database
    ids: Ids
    bodies: Bodies
    ledger: Ledger
    agenda: DispatchRepository
    workers: Workers
    slots: TickSlots
    dead_letters: DeadLetterRetries
    breakers: Breakers
    sweeps: Sweeps
    overbooked_hosts: OverbookedHosts
    standing: CurrentStateReader
    rate_limits: RateLimitRepository
    counting: HostAssignment
    sources: SourceRepository
    targets: TargetRepository
    audit: AuditLog
    browsers: BrowserRepository
    places: PlaceRepository
    searches: SearchRepository
    candidates: CandidateRepository
    wants: EnrichmentRequestRepository
    answers: AnswerRepository
    views: Views
    quarantine: QuarantineRepository
    environment: StoreEnvironment
    verticals: Mapping[str, VerticalStore]

    async def close(self) -> None:
        """Let go of files and connections."""
        await self.bodies.close()
        await self.database.close()


def build_store(settings: Settings, database: Database) -> Store:
    """The database and every concern on it; policies that contradict themselves are refused here."""
    for vertical in VERTICALS.values():
        validated(vertical.policy)
    ids = Ids(database)
    bodies = bodies_for(database, settings.pages_folder)
    lease, limit = timedelta(seconds=settings.lease_seconds), timedelta(minutes=settings.job_limit_minutes)
    breaker_policies = {name: vertical.policy.breaker for name, vertical in VERTICALS.items()}
    paces = Paces(own=settings.own_paces)
    sources, targets = SourceRepository(database, ids, paces), TargetRepository(database, ids, paces)
    environment = StoreEnvironment(database=database, ids=ids, sources=sources, targets=targets, asks=settings.asks)
    verticals = {name: plugin.store(environment) for name, plugin in LOADED_PLUGINS.items()}
    repositories = {name: each.repository for name, each in verticals.items()}
    ledger = Ledger(database, ids, bodies, repositories, VERTICALS)
    return Store(
        database=database,
        ids=ids,
        bodies=bodies,
        ledger=ledger,
        agenda=DispatchRepository(database, ids, VERTICALS),
        workers=Workers(database, ids, lease=lease, job_limit=limit),
        slots=TickSlots(database),
        dead_letters=DeadLetterRetries(database, ids),
        breakers=Breakers(database, breaker_policies),
        sweeps=Sweeps(database, VERTICALS),
        overbooked_hosts=OverbookedHosts(database, {name: vertical.policy for name, vertical in VERTICALS.items()}),
        standing=CurrentStateReader(database),
        rate_limits=RateLimitRepository(database),
        counting=HostAssignment(database, paces),
        sources=sources,
        targets=targets,
        audit=AuditLog(database, ids),
        browsers=BrowserRepository(database),
        places=PlaceRepository(database),
        searches=SearchRepository(database),
        candidates=CandidateRepository(database, ids),
        wants=EnrichmentRequestRepository(database),
        answers=AnswerRepository(database),
        views=Views(
            database, bodies.outputs, [each.counter for each in verticals.values() if each.counter is not None]
        ),
        quarantine=QuarantineRepository(database, ids, ledger.materials, repositories),
        environment=environment,
        verticals=verticals,
    )


def folders_of(settings: Settings, database: Database) -> list[Path]:
    """The folders that are written to: the database's, and that of the pages."""
    file = database.engine.url.database if database.is_sqlite else None
    beside = [Path(file).absolute().parent] if file and file != ":memory:" else []
    own = [settings.pages_folder.absolute()] if settings.pages_folder else []
    return list(dict.fromkeys(beside + own))
