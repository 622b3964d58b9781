"""What a person can do, once, for every face."""

from collections.abc import Callable
from dataclasses import dataclass

from tidemill.bootstrap.listings import build_market_desk
from tidemill.bootstrap.notices import Notices
from tidemill.bootstrap.storing import Store, folders_of
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.engine.ticks import Ticks
from tidemill.operations.adapters import AdapterDesk
from tidemill.operations.breakers import BreakerDesk
from tidemill.operations.browsers import BrowserDesk
from tidemill.operations.dead_letters import LetterDesk
from tidemill.operations.doctor import Doctor
from tidemill.operations.importing import Importer
from tidemill.operations.plans import Known
from tidemill.operations.proposals import ProposalDesk
from tidemill.operations.quarantine import QuarantineDesk
from tidemill.operations.runs import RunDesk
from tidemill.operations.sources import SourceDesk
from tidemill.operations.targets import TargetDesk
from tidemill.operations.upgrades import UpgradeDesk
from tidemill.operations.webhooks import WebhookDesk
from tidemill.operations.why import WhyDesk
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.ports import Clock, ServiceBook
from tidemill.settings import Settings
from tidemill.store.database.ping import Pulse
from tidemill.store.ledger.stale_jobs import StaleJobs
from tidemill.store.quality.incidents import QualityShelf
from tidemill.store.quality.proposals import Proposals
from tidemill.store.sources.adapters import AdapterShelf
from tidemill.store.sources.upgrades import Upgrades
from tidemill.verticals.events.export import Exporter
from tidemill.verticals.listings.actions import MarketDesk
from tidemill.verticals.prices.corrections import CorrectionDesk
from tidemill.verticals.prices.links import LinkDesk
from tidemill.verticals.prices.store.corrections import CorrectionShelf
from tidemill.verticals.prices.store.links import LinkShelf


@dataclass(frozen=True, slots=True)
class Desks:
    """What a person can do, once, for the command line, the API and the portal alike."""

    importer: Importer
    sources: SourceDesk
    targets: TargetDesk
    runs: RunDesk
    markets: MarketDesk
    letters: LetterDesk
    breakers: BreakerDesk
    browsers: BrowserDesk
    adapters: AdapterDesk
    upgrades: UpgradeDesk
    proposals: ProposalDesk
    why: WhyDesk
    doctor: Doctor
    exporter: Exporter
    quarantine: QuarantineDesk
    corrections: CorrectionDesk
    links: LinkDesk
    webhooks: WebhookDesk


def build_desks(
    settings: Settings,
    store: Store,
    clock: Clock,
    dispatcher: Dispatcher,
    ticks: Ticks,
    wake: Callable[[int], None],
    services: ServiceBook,
    notices: Notices,
) -> Desks:
    """What a person can do."""
    known = Known({name: tuple(vertical.adapters) for name, vertical in VERTICALS.items()})
    sources = SourceDesk(store.sources, clock, known)
    targets = TargetDesk(store.sources, store.targets, clock, known)
    stale = StaleJobs(store.database, store.ids)
    adapters = AdapterShelf(store.database, store.ids)
    markets = build_market_desk(store, clock, dispatcher, wake)
    return Desks(
        importer=Importer(store.sources, store.targets, clock, known, store.markets.lay_out),
        sources=sources,
        targets=targets,
        runs=RunDesk(sources, targets, store.agenda, dispatcher, store.views, stale, store.audit, clock, wake=wake),
        markets=markets,
        letters=LetterDesk(store.letters, store.views, store.audit, clock, wake),
        breakers=BreakerDesk(sources, store.breakers, store.views, store.audit, clock, wake),
        browsers=BrowserDesk(store.browsers, store.audit, clock),
        adapters=AdapterDesk(
            VERTICALS, adapters, store.views, clock, QualityShelf(store.database, store.ids, store.ledger.materials)
        ),
        proposals=ProposalDesk(Proposals(store.database, store.ids, store.bodies), clock),
        upgrades=UpgradeDesk(Upgrades(store.database, store.ids), sources, clock),
        why=WhyDesk(store.views, sources, targets, VERTICALS, clock, services.standing, markets),
        doctor=Doctor(
            Pulse(store.database),
            store.views,
            ticks.overdue,
            folders_of(settings, store.database),
            settings.max_pending,
            clock,
            store.crowding.debts,
        ),
        exporter=Exporter(store.views),
        quarantine=QuarantineDesk(store.quarantine, store.sources, VERTICALS, clock),
        corrections=CorrectionDesk(CorrectionShelf(store.database, store.ids), clock),
        links=LinkDesk(LinkShelf(store.database, store.ids), clock),
        webhooks=WebhookDesk(notices.outbox, notices.guard.refusal, clock),
    )
