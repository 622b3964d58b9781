"""What is kept: the database, and every concern on it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tidemill.bootstrap.verticals import ENRICHING, VERTICALS, build_shelves
from tidemill.core.policy import checked
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.ledger.ledger import Ledger
from tidemill.store.ledger.overbooked import Crowding
from tidemill.store.ledger.rate_limits import Tolls
from tidemill.store.ledger.recheck import Standings
from tidemill.store.ledger.retries import Letters
from tidemill.store.ledger.scheduling import Agendas
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.ledger.ticks import Slots
from tidemill.store.ledger.workers import Workers
from tidemill.store.pages.bodies import Bodies, bodies_for
from tidemill.store.quality.quarantine import QuarantineShelf
from tidemill.store.services.answers import AnswerBook
from tidemill.store.services.browsers import BrowserShelf
from tidemill.store.services.enrichment_requests import WantBook
from tidemill.store.sources.candidates import CandidateBook
from tidemill.store.sources.host_assignment import Counting
from tidemill.store.sources.hosts import Paces
from tidemill.store.sources.places import PlaceBook, SearchBook
from tidemill.store.sources.sources import SourceShelf
from tidemill.store.sources.targets import TargetShelf
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views
from tidemill.verticals.events.store.enrichment import Dresser
from tidemill.verticals.listings.policy import FADING
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.verification import Verification
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.verticals.prices.store.views import PriceReads


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that is kept, each concern by its own name."""

    database: Database
    ids: Ids
    bodies: Bodies
    ledger: Ledger
    agenda: Agendas
    workers: Workers
    slots: Slots
    letters: Letters
    breakers: Breakers
    sweeps: Sweeps
    crowding: Crowding
    standing: Standings
    tolls: Tolls
    counting: Counting
    sources: SourceShelf
    targets: TargetShelf
    audit: AuditLog
    browsers: BrowserShelf
    places: PlaceBook
    searches: SearchBook
    candidates: CandidateBook
    wants: WantBook
    answers: AnswerBook
    dresser: Dresser | None
    markets: Markets
    homes: ListingViews
    verification: Verification
    views: Views
    prices: PriceReads
    quarantine: QuarantineShelf

    async def close(self) -> None:
        """Let go of files and connections."""
        await self.bodies.close()
        await self.database.close()


def build_store(settings: Settings, database: Database) -> Store:
    """The database and every concern on it; policies that contradict themselves are refused here."""
    for vertical in VERTICALS.values():
        checked(vertical.policy)
    ids = Ids(database)
    bodies = bodies_for(database, settings.pages_folder)
    lease, limit = timedelta(seconds=settings.lease_seconds), timedelta(minutes=settings.job_limit_minutes)
    breaker_policies = {name: vertical.policy.breaker for name, vertical in VERTICALS.items()}
    asks = settings.asks
    dresser = Dresser(database, ids, ENRICHING["events"], asks) if asks else None
    shelves = build_shelves(ids, dresser)
    ledger = Ledger(database, ids, bodies, shelves, VERTICALS)
    paces = Paces(own=settings.own_paces)
    sources, targets = SourceShelf(database, ids, paces), TargetShelf(database, ids, paces)
    return Store(
        database=database,
        ids=ids,
        bodies=bodies,
        ledger=ledger,
        agenda=Agendas(database, ids),
        workers=Workers(database, ids, lease=lease, job_limit=limit),
        slots=Slots(database),
        letters=Letters(database, ids),
        breakers=Breakers(database, breaker_policies),
        sweeps=Sweeps(database),
        crowding=Crowding(database, {name: vertical.policy for name, vertical in VERTICALS.items()}),
        standing=Standings(database),
        tolls=Tolls(database),
        counting=Counting(database, paces),
        sources=sources,
        targets=targets,
        audit=AuditLog(database, ids),
        browsers=BrowserShelf(database),
        places=PlaceBook(database),
        searches=SearchBook(database),
        candidates=CandidateBook(database, ids),
        wants=WantBook(database),
        answers=AnswerBook(database),
        dresser=dresser,
        markets=Markets(database, ids, sources, targets),
        homes=ListingViews(database, FADING),
        verification=Verification(database, ids, FADING),
        views=Views(database, bodies.outputs),
        prices=PriceReads(database),
        quarantine=QuarantineShelf(database, ids, ledger.materials, shelves),
    )


def folders_of(settings: Settings, database: Database) -> list[Path]:
    """The folders that are written to: the database's, and that of the pages."""
    file = database.engine.url.database if database.is_sqlite else None
    beside = [Path(file).absolute().parent] if file and file != ":memory:" else []
    own = [settings.pages_folder.absolute()] if settings.pages_folder else []
    return list(dict.fromkeys(beside + own))
