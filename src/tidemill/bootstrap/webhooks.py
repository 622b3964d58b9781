"""Build the guarded sender of webhooks, and what notes and sends them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from tidemill.bootstrap.store import Store
from tidemill.core.schedules import Every
from tidemill.engine.periodic import Chore
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.operations.webhooks.notifier import Notifier
from tidemill.pipeline.ports import Clock
from tidemill.plugin import Parts
from tidemill.services.webhooks import WebhookPost
from tidemill.settings import Settings


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """Sends to subscribers, whose addresses pass the same guard as all other requests."""

    guard: AddressGuard
    post: WebhookPost


def build_webhooks(settings: Settings) -> WebhookSender:
    """Build the sender; it connects when the first webhook is sent."""
    guard = AddressGuard(settings.allow_networks)
    transport = AiohttpTransport(guard, resolve=settings.host_addresses, max_connections=10)
    return WebhookSender(guard, WebhookPost(transport, guard.reason_to_refuse, settings.user_agent))


def build_notifier(store: Store, parts: Mapping[str, Parts], sender: WebhookSender, clock: Clock) -> Notifier:
    """Build what turns the changes of every vertical's feed into notices, and sends them."""
    feeds = [feed for each in parts.values() for feed in each.feeds]
    return Notifier(store.webhooks, feeds, sender.post, clock)


def notices_chore(notifier: Notifier) -> Chore:
    """Return the chore that notes and sends what is due."""
    return Chore("notices", Every(timedelta(minutes=1)), notifier.notify, follows="services")
