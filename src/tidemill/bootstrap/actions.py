"""Build the actions that a person can take, once for command line, API and portal."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from tidemill.bootstrap.migrations import CHAINS
from tidemill.bootstrap.store import Store, written_folders
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.bootstrap.watching.alerts import AlertParts, notice_policy
from tidemill.engine.chores import DISPATCH_GRACE
from tidemill.engine.periodic import ChoreRunner
from tidemill.operations.access.passwords import Passwords
from tidemill.operations.access.people import PeopleActions
from tidemill.operations.access.signing_in import SignInActions
from tidemill.operations.access.tokens import TokenActions
from tidemill.operations.adapters import AdapterActions
from tidemill.operations.breakers import BreakerActions
from tidemill.operations.browsers import BrowserActions
from tidemill.operations.bundles.actions import BundleActions
from tidemill.operations.dead_letters import DeadLetterActions
from tidemill.operations.doctor import Doctor
from tidemill.operations.exporting.exporter import Exporter
from tidemill.operations.feeds.refresh import FeedActions
from tidemill.operations.importing import Importer
from tidemill.operations.incidents import IncidentActions
from tidemill.operations.known_settings import known_adapters
from tidemill.operations.proposals import ProposalActions
from tidemill.operations.quarantine import QuarantineActions
from tidemill.operations.replay.actions import ReplayActions
from tidemill.operations.runs import RunActions
from tidemill.operations.sources import SourceActions
from tidemill.operations.status import StatusActions
from tidemill.operations.targets import TargetActions
from tidemill.operations.upgrades import UpgradeActions
from tidemill.operations.watching.objectives import ObjectiveActions
from tidemill.operations.webhooks.actions import WebhookActions
from tidemill.operations.why.why import WhyActions
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock, ServiceRegistry
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.plugin import Parts
from tidemill.settings import Settings
from tidemill.store.access.idempotency import IdempotencyRepository
from tidemill.store.access.people import PeopleRepository
from tidemill.store.access.sessions import SessionRepository
from tidemill.store.access.tokens import TokenRepository
from tidemill.store.alerts.last_fired import LastFired
from tidemill.store.database.ping import DatabasePing
from tidemill.store.ledger.stale_jobs import StaleJobs
from tidemill.store.quality.adapter_fit import AdapterFitRepository
from tidemill.store.quality.proposals import Proposals
from tidemill.store.sources.adapters import AdapterRepository
from tidemill.store.sources.upgrades import UpgradeRepository
from tidemill.web.auth.callers import AccessDeps


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions that a person can take, the same for the command line, the API and the portal."""

    exporter: Exporter
    importer: Importer
    sources: SourceActions
    targets: TargetActions
    runs: RunActions
    feeds: FeedActions
    dead_letters: DeadLetterActions
    breakers: BreakerActions
    bundles: BundleActions
    browsers: BrowserActions
    adapters: AdapterActions
    upgrades: UpgradeActions
    incidents: IncidentActions
    objectives: ObjectiveActions
    proposals: ProposalActions
    replays: ReplayActions
    why: WhyActions
    status: StatusActions
    doctor: Doctor
    quarantine: QuarantineActions
    people: PeopleActions
    signing_in: SignInActions
    tokens: TokenActions
    answers: IdempotencyRepository
    webhooks: WebhookActions

    def access_deps(self, settings: Settings) -> AccessDeps:
        """Return what the web app knows callers by."""
        return AccessDeps(
            people=self.people,
            signing_in=self.signing_in,
            tokens=self.tokens,
            answers=self.answers,
            new_secret=secrets.token_urlsafe,
            api_token=_text(settings.api_token),
            watch_token=_text(settings.watch_token),
            public_readers=settings.public_readers,
        )


def _text(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def build_actions(
    settings: Settings,
    store: Store,
    clock: Clock,
    dispatcher: Dispatcher,
    ticks: ChoreRunner,
    wake: Callable[[int], None],
    services: ServiceRegistry,
    replays: ReplayActions,
    *,
    readers: FunctionReaders,
    parts: Mapping[str, Parts],
    webhooks: WebhookActions,
    alerts: AlertParts,
    announce: Announce,
    feeds: FeedActions,
) -> Actions:
    """Build the actions of this system."""
    templates = [template for each in parts.values() for template in each.templates]
    explainers = [explainer for each in parts.values() for explainer in each.explainers]
    known = known_adapters(VERTICALS, templates)

    async def missed() -> list[tuple[str, int]]:
        return await store.sweeps.undispatched(DISPATCH_GRACE, clock.now())

    sources = SourceActions(store.sources, clock, known)
    targets = TargetActions(store.sources, store.targets, clock, known)
    stale = StaleJobs(store.database, store.ids)
    adapters = AdapterRepository(store.database, store.ids)
    dead_letters = DeadLetterActions(
        store.dead_letters, store.views, store.audit, clock, wake, dispatcher.announce_opened
    )
    counted = alerts.objectives
    objectives = ObjectiveActions(counted.objectives, counted.store, counted.counting.sources, clock)
    channels = alerts.sender.channels
    routes = notice_policy(settings, list(channels)).routes
    incidents = IncidentActions(alerts.incidents, alerts.outbox, channels, settings.runbooks_url, clock, routes)
    quarantine = QuarantineActions(store.quarantine, store.sources, VERTICALS, clock, readers)
    people, passwords = PeopleRepository(store.database, store.ids), Passwords()
    return Actions(
        exporter=Exporter(
            [one for each in parts.values() for one in each.datasets], store.sources, store.audit, clock, announce
        ),
        importer=Importer(store.sources, store.targets, clock, known),
        sources=sources,
        targets=targets,
        runs=RunActions(sources, targets, store.agenda, dispatcher, store.views, stale, store.audit, clock, wake=wake),
        feeds=feeds,
        dead_letters=dead_letters,
        bundles=BundleActions(
            dead_letters, store.sources, store.targets, store.ledger.materials.page, VERTICALS, store.audit, clock
        ),
        breakers=BreakerActions(sources, store.breakers, store.views, store.audit, clock, wake),
        browsers=BrowserActions(store.browsers, store.audit, clock),
        adapters=AdapterActions(
            VERTICALS,
            adapters,
            store.views,
            clock,
            AdapterFitRepository(store.database, store.ids, store.ledger.materials),
            readers,
        ),
        incidents=incidents,
        objectives=objectives,
        proposals=ProposalActions(Proposals(store.database, store.ids, store.bodies), clock),
        replays=replays,
        upgrades=UpgradeActions(UpgradeRepository(store.database, store.ids), sources, clock),
        why=WhyActions(
            store.views,
            sources=sources,
            targets=targets,
            verticals=VERTICALS,
            clock=clock,
            services=services.statuses,
            incidents=incidents,
            quarantine=quarantine,
            explainers=explainers,
        ),
        status=StatusActions(
            store.views,
            incidents,
            LastFired(store.database),
            clock,
            overdue=ticks.overdue,
            missed=missed,
            services=services.statuses,
            lease=store.workers.heartbeat * 3,
            scopes=[each.overdue_scopes for each in parts.values() if each.overdue_scopes is not None],
        ),
        doctor=Doctor(
            DatabasePing(store.database, CHAINS),
            store.views,
            ticks.overdue,
            written_folders(settings, store.database),
            settings.max_pending,
            clock,
            overbooked=store.overbooked_hosts.overbooked,
            not_installed=store.sweeps.not_installed,
            services=services.statuses,
            missed=missed,
            lease=store.workers.heartbeat * 3,
        ),
        quarantine=quarantine,
        people=PeopleActions(people, passwords, clock, secrets.token_urlsafe),
        signing_in=SignInActions(
            people, SessionRepository(store.database, store.ids), passwords, clock, secrets.token_urlsafe
        ),
        tokens=TokenActions(TokenRepository(store.database, store.ids), clock, secrets.token_urlsafe, VERTICALS),
        answers=IdempotencyRepository(store.database),
        webhooks=webhooks,
    )
