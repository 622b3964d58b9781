"""What is kept: the database, and every concern on it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tidemill.bootstrap.verticals import VERTICALS, build_shelves
from tidemill.core.policy import checked
from tidemill.settings import Settings
from tidemill.store.agenda import Agendas
from tidemill.store.audit import AuditLog
from tidemill.store.bodies import Bodies, bodies_for
from tidemill.store.breakers import Breakers
from tidemill.store.crowding import Crowding
from tidemill.store.database import Database
from tidemill.store.ids import Ids
from tidemill.store.ledger import Ledger
from tidemill.store.retries import Letters
from tidemill.store.sources import SourceShelf
from tidemill.store.standing import Standings
from tidemill.store.sweeps import Sweeps
from tidemill.store.targets import TargetShelf
from tidemill.store.ticks import Slots
from tidemill.store.tolls import Tolls
from tidemill.store.views import Views
from tidemill.store.workers import Workers


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
    sources: SourceShelf
    targets: TargetShelf
    audit: AuditLog
    views: Views

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
    return Store(
        database=database,
        ids=ids,
        bodies=bodies,
        ledger=Ledger(database, ids, bodies, build_shelves(ids), VERTICALS),
        agenda=Agendas(database, ids),
        workers=Workers(database, ids, lease=lease, job_limit=limit),
        slots=Slots(database),
        letters=Letters(database, ids),
        breakers=Breakers(database, breaker_policies),
        sweeps=Sweeps(database),
        crowding=Crowding(database, {name: vertical.policy for name, vertical in VERTICALS.items()}),
        standing=Standings(database),
        tolls=Tolls(database),
        sources=SourceShelf(database, ids),
        targets=TargetShelf(database, ids),
        audit=AuditLog(database, ids),
        views=Views(database),
    )


def folders_of(settings: Settings, database: Database) -> list[Path]:
    """The folders that are written to: the database's, and that of the pages."""
    file = database.engine.url.database if database.is_sqlite else None
    beside = [Path(file).absolute().parent] if file and file != ":memory:" else []
    own = [settings.pages_folder.absolute()] if settings.pages_folder else []
    return list(dict.fromkeys(beside + own))
