"""The web app beside the engine, in the same process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from functools import partial
from typing import Any

from tidemill import __version__
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System
from tidemill.cli.mistakes import ListeningTrouble
from tidemill.engine.chores import DISPATCH_GRACE
from tidemill.pipeline.happenings import Announce, PageGot, StageDone
from tidemill.store.database.migrate import require_current
from tidemill.telemetry.metrics import Metrics
from tidemill.telemetry.pulse import Pulse
from tidemill.telemetry.recent import Recent
from tidemill.telemetry.shield import shielded
from tidemill.verticals.events.feed import Weights
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.prices.parts import PricesParts
from tidemill.web.app import create_app
from tidemill.web.deps import LOOPBACK_NAMES, WebActions, WebDeps
from tidemill.web.serve import CannotListen, serve

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


class Watchers:
    """Who looks on: metrics, the pulse, the latest happenings, and whoever else is told."""

    def __init__(self, complain: Callable[[str, Exception], None], *others: Announce) -> None:
        """`complain` hears of a watcher that failed; the engine never does."""
        self.complain = complain
        self.metrics = Metrics(__version__)
        self.pulse = Pulse()
        self.recent = Recent(leave_out=(StageDone, PageGot))
        watching = (self.metrics.count, self.pulse.feel, self.recent.remember, *others)
        self.listeners = Listeners(*(shielded(watcher, complain) for watcher in watching))


def web_deps(system: System, watchers: Watchers, host: str) -> WebDeps:
    """What the web app asks, from the running system."""
    store, clock = system.store, system.clock

    async def missed() -> list[tuple[str, int]]:
        return await store.sweeps.undispatched(DISPATCH_GRACE, clock.now())

    return WebDeps(
        views=store.views,
        clock=clock,
        overdue=system.ticks.overdue,
        missed=missed,
        pending=store.agenda.pending,
        disabled_adapters=store.agenda.disabled_adapters,
        require_current=partial(require_current, store.database),
        metrics=watchers.metrics,
        pulse=watchers.pulse,
        recent=watchers.recent,
        version=__version__,
        started_at=clock.now(),
        why=system.actions.why.explain,
        markets=system.part(ListingsParts).markets,
        discovery=system.discovery,
        homes=system.part(ListingsParts).store.views,
        complain=watchers.complain,
        services=system.services.standing,
        feed_weights=Weights(**{str(name): weight for name, weight in system.settings.feed_weights.items()}),
        upgrades=system.actions.upgrades,
        prices=system.part(PricesParts).store.views,
        actions=web_actions(system),
        lease=store.workers.heartbeat * 3,
        api_token=token.get_secret_value() if (token := system.settings.api_token) else None,
        allowed_hosts=None if host in EVERYWHERE else LOOPBACK_NAMES | {host},
    )


def web_actions(system: System) -> WebActions:
    """The actions at which the web app acts for a person."""
    names = (field.name for field in fields(WebActions))
    prices = system.part(PricesParts)
    return WebActions(
        **{name: getattr(prices if name in ("corrections", "links") else system.actions, name) for name in names}
    )


@asynccontextmanager
async def serving(system: System, watchers: Watchers, host: str, port: int) -> AsyncIterator[str]:
    """Serve while entered; answers the address at which a browser finds us."""
    app = create_app(web_deps(system, watchers, host))
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    web = asyncio.create_task(serve(app, host, port, ready=address.set_result), name="web app")
    try:
        waiting: list[asyncio.Future[Any]] = [web, address]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            web.result()
        yield address.result()
    except CannotListen as trouble:
        raise ListeningTrouble(str(trouble)) from trouble
    finally:
        web.cancel()
        with suppress(asyncio.CancelledError, CannotListen):
            await web
