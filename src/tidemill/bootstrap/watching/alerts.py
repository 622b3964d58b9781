"""Build what tells people: the checks, the evaluation, the channels, the outbox and the dead-man ping."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import time, timedelta

from tidemill.alerts import checks
from tidemill.alerts.channels.apprise_urls import AppriseChannel
from tidemill.alerts.channels.mail import MailChannel
from tidemill.alerts.channels.slack import SlackChannel
from tidemill.alerts.channels.webhook import WebhookChannel
from tidemill.alerts.deadman import DeadManPing
from tidemill.alerts.evaluation import AlertEvaluation
from tidemill.alerts.objectives import burning_objectives
from tidemill.alerts.ports import AlertChannel, AlertCheck
from tidemill.alerts.sending import OutboxSender
from tidemill.bootstrap.enrichment import spill_folder
from tidemill.bootstrap.store import Store, written_folders
from tidemill.bootstrap.watching.objectives import COUNTED_EVERY, ObjectiveParts, build_objectives
from tidemill.bootstrap.webhooks import WebhookSender
from tidemill.core.alerts.outgoing import Digest, NoticePolicy
from tidemill.core.alerts.routes import ChannelRoute, quiet_hours
from tidemill.core.alerts.table import AlertName
from tidemill.core.checks.secrets import redact_text
from tidemill.core.objectives.burn import BURN_ALERTS
from tidemill.core.schedules import Every
from tidemill.core.vertical import Vertical
from tidemill.engine.chores import DISPATCH_GRACE
from tidemill.engine.periodic import Chore, ChoreRunner
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock, ServiceRegistry, Transport
from tidemill.plugin import Parts
from tidemill.services.apprise_client import AppriseClient
from tidemill.services.mail import SmtpSender
from tidemill.settings import Settings
from tidemill.store.alerts.incidents import AlertIncidentRepository
from tidemill.store.alerts.outbox import AlertOutbox
from tidemill.store.alerts.rounds import RoundRepository
from tidemill.store.alerts.signals import SignalReader

EVALUATED_EVERY = Every(timedelta(minutes=1))
SENT_EVERY = Every(timedelta(seconds=15))
PINGED_EVERY = Every(timedelta(minutes=1))
OPTIONAL_ALERT_TICKS = {"deadman": PINGED_EVERY, "objectives": COUNTED_EVERY}
"""Done only where an address or an objective is set; their rhythm may be set all the same."""


@dataclass(frozen=True, slots=True)
class AlertParts:
    """What tells people, in one running system."""

    evaluation: AlertEvaluation
    sender: OutboxSender
    incidents: AlertIncidentRepository
    outbox: AlertOutbox
    rounds: RoundRepository
    policy: NoticePolicy
    deadman: DeadManPing | None
    objectives: ObjectiveParts

    @property
    def chores(self) -> list[Chore]:
        """The periodic work of telling people."""
        own = [
            *self.objectives.chores,
            Chore("alerts", EVALUATED_EVERY, self.evaluation.run),
            Chore("outbox", SENT_EVERY, self.sender.run, follows="alerts"),
        ]
        return own if self.deadman is None else [*own, Chore("deadman", PINGED_EVERY, self.deadman.run)]

    async def close(self) -> None:
        """Close the channels' connections."""
        for channel in self.sender.channels.values():
            await channel.close()
        if self.deadman is not None:
            await self.deadman.transport.close()


def build_alerts(
    settings: Settings,
    store: Store,
    clock: Clock,
    announce: Announce,
    services: ServiceRegistry,
    webhooks: WebhookSender,
    ticks: ChoreRunner,
    *,
    verticals: Mapping[str, Vertical],
    parts: Mapping[str, Parts],
    transport: Transport | None,
) -> AlertParts:
    """Build it; nothing is read or sent yet."""
    objectives = build_objectives(settings, store, clock, verticals)
    channels = build_channels(settings, webhooks, transport)
    policy = notice_policy(settings, list(channels))
    incidents = AlertIncidentRepository(store.database, store.ids)
    outbox = AlertOutbox(store.database, store.ids)
    rounds = RoundRepository(store.database, store.ids, {name: is_daily(each) for name, each in verticals.items()})
    evaluation = AlertEvaluation(
        clock=clock,
        announce=announce,
        checks=alert_checks(settings, store, clock, announce, ticks, parts, objectives),
        incidents=incidents,
        rounds=rounds,
        policy=policy,
        runbooks=settings.runbooks_url,
        redact=redact_text,
    )
    sender = OutboxSender(clock=clock, announce=announce, outbox=outbox, channels=channels, services=services)
    deadman = build_deadman(settings, store, clock, services, webhooks, ticks, transport)
    return AlertParts(evaluation, sender, incidents, outbox, rounds, policy, deadman, objectives)


def is_daily(vertical: Vertical) -> bool:
    """Return whether a day of a vertical is one round: it is scraped all day long."""
    return vertical.policy.name in {"live", "monitor"}


def alert_checks(
    settings: Settings,
    store: Store,
    clock: Clock,
    announce: Announce,
    ticks: ChoreRunner,
    parts: Mapping[str, Parts],
    objectives: ObjectiveParts,
) -> list[AlertCheck]:
    """Return every check; each alert of the table that is no drift is in one of them, and a test sees to it."""
    signals = SignalReader(store.database, clock)
    scopes: list[Callable[[], Awaitable[Sequence[tuple[str, str]]]]] = [
        each.overdue_scopes for each in parts.values() if each.overdue_scopes is not None
    ]
    folders = written_folders(settings, store.database)
    return [
        AlertCheck("adapters", (AlertName.ADAPTER_DISABLED,), signals.disabled),
        AlertCheck(
            "queues", (AlertName.QUEUE_REJECTIONS, AlertName.LONG_BACKOFF), checks.full_queues(store.agenda.backoffs)
        ),
        AlertCheck("stale jobs", (AlertName.TARGETS_STALE,), signals.stale),
        AlertCheck("breakers", (AlertName.BREAKER_OPEN, AlertName.BREAKERS_OPEN), signals.breakers),
        AlertCheck("dead letters", (AlertName.DEAD_LETTERS,), signals.letters),
        AlertCheck("records", (AlertName.NO_RECORDS,), signals.empty),
        AlertCheck("budgets", (AlertName.LLM_BUDGET, AlertName.SCRAPINGBEE_BUDGET), signals.budgets),
        AlertCheck("names and certificates", (AlertName.DNS_OR_TLS,), signals.unreachable),
        AlertCheck(
            "discovery", (AlertName.DISCOVERY_SPILLED,),
            checks.spilled_files(spill_folder(settings, store), "discovered-*.jsonl"),
        ),
        AlertCheck(
            "disks", (AlertName.DISK_FULL, AlertName.DISK_LOW),
            checks.full_disks(folders, checks.measure_disk, announce),
        ),
        AlertCheck("lists", (AlertName.SCOPE_OVERDUE,), checks.overdue_scopes(scopes)),
        AlertCheck("ticks", (AlertName.TICK_SILENT,), checks.silent_ticks(ticks.overdue)),
        AlertCheck("clocks", (AlertName.CLOCK_SKEW,), checks.wrong_clocks(signals.skewed_clocks, announce)),
        AlertCheck(
            "live polling", (AlertName.GRADE_FAILING, AlertName.GRADE_DEGRADED, AlertName.RECOVERY_LOOP),
            checks.live_grade(store.live_health.grading),
        ),
        AlertCheck(
            "objectives", tuple(BURN_ALERTS), burning_objectives(objectives.objectives, objectives.store),
        ),
    ]  # fmt: skip


def build_channels(settings: Settings, webhooks: WebhookSender, transport: Transport | None) -> dict[str, AlertChannel]:
    """Return the channels that are set up, by name."""
    channels: list[AlertChannel] = []
    if settings.slack_webhook is not None:
        wire = transport or AiohttpTransport(webhooks.guard, resolve=settings.host_addresses, max_connections=2)
        channels.append(SlackChannel(settings.slack_webhook.get_secret_value(), wire, webhooks.guard.reason_to_refuse))
    if settings.mail_server is not None:
        sender = SmtpSender(settings.mail_server.get_secret_value(), webhooks.guard.allows, settings.host_addresses)
        channels.append(MailChannel(sender, settings.mail_from, settings.mail_to))
    if settings.alert_webhook_url is not None and settings.alert_webhook_secret is not None:
        url, secret = settings.alert_webhook_url, settings.alert_webhook_secret
        channels.append(WebhookChannel(url.get_secret_value(), secret.get_secret_value(), webhooks.post))
    if settings.apprise_urls:
        addresses = [each.get_secret_value() for each in settings.apprise_urls]
        channels.append(AppriseChannel(AppriseClient(addresses)))
    return {each.name: each for each in channels}


def notice_policy(settings: Settings, channels: Sequence[str]) -> NoticePolicy:
    """Return where notices go, and when."""
    routes = {
        name: ChannelRoute(severities=route.severities, verticals=route.verticals)
        for name, route in settings.alert_routes.items()
    }
    at = time.fromisoformat(settings.alert_digest_at)
    return NoticePolicy(
        channels=channels,
        routes={str(name): route for name, route in routes.items()},
        quiet=quiet_hours(settings.alert_quiet_hours, settings.alert_zone),
        digest=Digest(settings.alert_digest, at, settings.alert_zone) if settings.alert_digest else None,
    )


def build_deadman(
    settings: Settings,
    store: Store,
    clock: Clock,
    services: ServiceRegistry,
    webhooks: WebhookSender,
    ticks: ChoreRunner,
    transport: Transport | None,
) -> DeadManPing | None:
    """Return the ping, if there is an address for it; it stops when proof of work is not clean."""
    if settings.deadman_url is None:
        return None

    async def late() -> list[str]:
        silent = [f"tick {name}" for name, _ in await ticks.overdue() if name != "deadman"]
        missed = await store.sweeps.undispatched(DISPATCH_GRACE, clock.now())
        return silent + [f"source {name}" for name, _ in missed]

    return DeadManPing(
        clock=clock,
        url=settings.deadman_url.get_secret_value(),
        transport=transport or AiohttpTransport(webhooks.guard, resolve=settings.host_addresses, max_connections=1),
        reason_to_refuse=webhooks.guard.reason_to_refuse,
        services=services,
        late=late,
    )
