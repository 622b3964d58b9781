"""Build the store: the database, and the repositories on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tidemill.bootstrap.verticals import LOADED_PLUGINS, VERTICALS
from tidemill.core.live.lifecycle import LifecyclePolicy
from tidemill.core.policy import validated
from tidemill.core.vertical import Vertical
from tidemill.operations.mistakes import Mistake
from tidemill.plugin import StoreEnvironment, VerticalStore
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.ledger.host_assignment import HostAssignment
from tidemill.store.ledger.ledger import Ledger
from tidemill.store.ledger.named_claims import NamedClaims
from tidemill.store.ledger.overbooked import OverbookedHosts
from tidemill.store.ledger.rate_limits import RateLimitRepository
from tidemill.store.ledger.recheck import CurrentStateReader
from tidemill.store.ledger.retries import DeadLetterRetries
from tidemill.store.ledger.scheduling import DispatchRepository
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.ledger.ticks import TickSlots
from tidemill.store.ledger.workers import Workers
from tidemill.store.live.ledger import LiveLedger
from tidemill.store.pages.bodies import Bodies, bodies_for
from tidemill.store.pages.object_bodies import ObjectBodies
from tidemill.store.quality.quarantine import QuarantineRepository
from tidemill.store.services.answers import AnswerRepository
from tidemill.store.services.browsers import BrowserRepository
from tidemill.store.services.enrichment_requests import EnrichmentRequestRepository
from tidemill.store.services.webhooks import WebhookRepository
from tidemill.store.snapshots.log import SnapshotLog
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.store.sources.candidates import CandidateRepository
from tidemill.store.sources.hosts import Paces
from tidemill.store.sources.places import PlaceRepository, SearchRepository
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.upkeep.live_health import LiveHealthRepository
from tidemill.store.views.views import Views


@dataclass(frozen=True, slots=True)
class Store:
    """The database and every repository on it, by concern."""

    database: Database
    ids: Ids
    bodies: Bodies
    ledger: Ledger
    named_claims: NamedClaims
    agenda: DispatchRepository
    workers: Workers
    slots: TickSlots
    dead_letters: DeadLetterRetries
    breakers: Breakers
    sweeps: Sweeps
    overbooked_hosts: OverbookedHosts
    current_state: CurrentStateReader
    rate_limits: RateLimitRepository
    host_assignment: HostAssignment
    sources: SourceRepository
    targets: TargetRepository
    audit: AuditLog
    browsers: BrowserRepository
    live_health: LiveHealthRepository
    places: PlaceRepository
    searches: SearchRepository
    candidates: CandidateRepository
    enrichment_requests: EnrichmentRequestRepository
    answers: AnswerRepository
    views: Views
    quarantine: QuarantineRepository
    change_log: SnapshotLog
    snapshots: SnapshotReads
    live: LiveLedger
    webhooks: WebhookRepository
    environment: StoreEnvironment
    verticals: Mapping[str, VerticalStore]

    async def close(self) -> None:
        """Close files and connections."""
        await self.bodies.close()
        await self.database.close()


def build_store(
    settings: Settings,
    database: Database,
    known: Mapping[str, Vertical] = VERTICALS,
    lives: LifecyclePolicy | None = None,
) -> Store:
    """Build the repositories on a database, for these verticals; raise for policies that contradict themselves."""
    for vertical in known.values():
        validated(vertical.policy)
    ids = Ids(database)
    bodies = build_bodies(settings, database)
    lease, limit = timedelta(seconds=settings.lease_seconds), timedelta(minutes=settings.job_limit_minutes)
    breaker_policies = {name: vertical.policy.breaker for name, vertical in known.items()}
    paces = Paces(own=settings.own_paces)
    sources = SourceRepository(database, ids, paces, gate=settings.replay_gate)
    targets = TargetRepository(database, ids, paces)
    environment = StoreEnvironment(
        database=database, ids=ids, sources=sources, targets=targets, asks=settings.enrichment_services
    )
    verticals = {name: plugin.store(environment) for name, plugin in LOADED_PLUGINS.items()}
    repositories = {name: each.repository for name, each in verticals.items()}
    ledger = Ledger(database, ids, bodies, repositories, known)
    change_log = SnapshotLog(
        database, {name: each.labels for name, each in verticals.items() if each.labels is not None}
    )
    return Store(
        database=database,
        ids=ids,
        bodies=bodies,
        ledger=ledger,
        named_claims=NamedClaims(database),
        agenda=DispatchRepository(database, ids, [name for name, each in known.items() if each.live is None]),
        workers=Workers(database, ids, lease=lease, job_limit=limit),
        slots=TickSlots(database),
        dead_letters=DeadLetterRetries(database, ids),
        breakers=Breakers(database, breaker_policies),
        sweeps=Sweeps(database, known),
        overbooked_hosts=OverbookedHosts(database, {name: vertical.policy for name, vertical in known.items()}),
        current_state=CurrentStateReader(database),
        rate_limits=RateLimitRepository(database),
        host_assignment=HostAssignment(database, paces),
        sources=sources,
        targets=targets,
        audit=AuditLog(database, ids),
        browsers=BrowserRepository(database),
        live_health=LiveHealthRepository(database, ids),
        places=PlaceRepository(database),
        searches=SearchRepository(database),
        candidates=CandidateRepository(database, ids),
        enrichment_requests=EnrichmentRequestRepository(database),
        answers=AnswerRepository(database),
        views=Views(
            database,
            bodies.outputs,
            [each.counter for each in verticals.values() if each.counter is not None],
            {name: vertical.policy.needs_approval for name, vertical in VERTICALS.items()},
        ),
        quarantine=QuarantineRepository(database, ids, ledger.materials, repositories),
        change_log=change_log,
        snapshots=SnapshotReads(database),
        live=LiveLedger(
            database,
            ids,
            bodies,
            change_log,
            known,
            {name: each.live for name, each in verticals.items() if each.live is not None},
            paces,
            lives,
        ),
        webhooks=WebhookRepository(database, ids),
        environment=environment,
        verticals=verticals,
    )


def build_bodies(settings: Settings, database: Database) -> Bodies:
    """Build where bodies of pages are kept: an S3-compatible store if one is set, else as the database has it."""
    if settings.pages_store is None:
        return bodies_for(database, settings.pages_folder)
    if database.is_sqlite:
        msg = "pages_store needs PostgreSQL; with SQLite pages are kept in pages_folder"
        raise Mistake(msg)
    try:
        from tidemill.services.s3 import S3Store  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = "pages_store is set, but its client is not installed: pip install 'tidemill[s3]'"
        raise Mistake(msg) from error
    bucket, _, folder = settings.pages_store.removeprefix("s3://").partition("/")
    key, secret = settings.pages_store_key, settings.pages_store_secret
    objects = S3Store(
        bucket,
        folder,
        url=settings.pages_store_url,
        region=settings.pages_store_region,
        key=None if key is None else key.get_secret_value(),
        secret=None if secret is None else secret.get_secret_value(),
    )
    return ObjectBodies(database, objects)


def pages_folder_of(settings: Settings, database: Database) -> Path | None:
    """Return the folder that holds the bodies of pages; None where the database or a store elsewhere does."""
    file = database.engine.url.database if database.is_sqlite else None
    if not file or file == ":memory:":
        return None
    return settings.pages_folder or Path(f"{file}.pages")


def written_folders(settings: Settings, database: Database) -> list[Path]:
    """Return the folders that are written to: the database's, and that of the pages."""
    file = database.engine.url.database if database.is_sqlite else None
    database_folder = [Path(file).absolute().parent] if file and file != ":memory:" else []
    pages_folder = [settings.pages_folder.absolute()] if settings.pages_folder else []
    return list(dict.fromkeys(database_folder + pages_folder))
