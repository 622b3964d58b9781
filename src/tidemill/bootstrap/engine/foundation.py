"""Build what everything else stands on: clock, database, repositories and the outside services that are known."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.live.lane import live_policy, with_live_breakers
from tidemill.bootstrap.plugins import UNUSABLE_PLUGINS
from tidemill.bootstrap.services import build_services
from tidemill.bootstrap.store import Store, build_store
from tidemill.bootstrap.verticals import UNLOADABLE_PLUGINS, UNUSABLE_ADAPTERS, VERTICALS
from tidemill.core.vertical import Vertical
from tidemill.engine.clock import RealClock, real_dice
from tidemill.pipeline.happenings import PartCrashed
from tidemill.pipeline.ports import Clock, Dice
from tidemill.settings import Settings
from tidemill.store.database.database import Database, open_database
from tidemill.store.services.status import Services


@dataclass(frozen=True, slots=True)
class Foundation:
    """What every part of a process is built on."""

    settings: Settings
    clock: Clock
    dice: Dice
    announce: Listeners
    verticals: Mapping[str, Vertical]
    store: Store
    services: Services

    @property
    def is_real_time(self) -> bool:
        """Return whether the machine's own clock runs; the lab's is moved by hand."""
        return isinstance(self.clock, RealClock)


def lay_foundation(
    settings: Settings,
    *,
    announce: Listeners | None = None,
    clock: Clock | None = None,
    dice: Dice | None = None,
    database: Database | None = None,
) -> Foundation:
    """Open the database and build the repositories on it; packages that cannot be used are named."""
    clock, dice, announce = clock or RealClock(), dice or real_dice(), announce or Listeners()
    announce_unusable_packages(announce, clock)
    opened = database or open_main_database(settings)
    verticals = with_live_breakers(VERTICALS, settings)
    store = build_store(settings, opened, verticals, live_policy(settings))
    services = build_services(settings, store.database, clock, announce)
    return Foundation(settings, clock, dice, announce, verticals, store, services)


def open_main_database(settings: Settings) -> Database:
    """Open the database of the settings; nothing is asked of it yet."""
    return open_database(
        settings.database.get_secret_value(),
        connections=settings.database_connections,
        is_pooled=settings.database_pooler,
        replica=None if settings.read_database is None else settings.read_database.get_secret_value(),
    )


def announce_unusable_packages(announce: Listeners, clock: Clock) -> None:
    """An installed adapter or vertical that cannot be loaded is left out, and said so: the others work on."""
    for kind, left_out in (("vertical", UNUSABLE_PLUGINS + UNLOADABLE_PLUGINS), ("adapter", UNUSABLE_ADAPTERS)):
        for broken in left_out:
            announce(PartCrashed(clock.now(), f"{kind} {broken.name}", f"{broken.where} is left out: {broken.reason}"))
