"""Build the guarded sender of webhooks."""

from dataclasses import dataclass

from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import AddressGuard
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
