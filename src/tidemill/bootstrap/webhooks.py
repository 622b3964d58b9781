"""Notices of what changed: the outbox, the guarded way out, and the chore that brings them together."""

from dataclasses import dataclass

from tidemill.bootstrap.store import Store
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.pipeline.notify import Notifier
from tidemill.pipeline.ports import Clock
from tidemill.services.webhooks import WebhookPost
from tidemill.settings import Settings
from tidemill.store.services.webhooks import WebhookRepository
from tidemill.verticals.prices.store.views import PriceReads


@dataclass(frozen=True, slots=True)
class WebhookParts:
    """Everything about telling others."""

    guard: AddressGuard
    outbox: WebhookRepository
    post: WebhookPost
    notifier: Notifier


def build_notices(settings: Settings, store: Store, clock: Clock) -> WebhookParts:
    """Wire them; subscribers' addresses pass the same guard as everything else that we call."""
    guard = AddressGuard(settings.allow_networks)
    transport = AiohttpTransport(guard, resolve=settings.host_addresses, max_connections=10)
    outbox = WebhookRepository(store.database, store.ids)
    post = WebhookPost(transport, guard.refusal, settings.user_agent)
    return WebhookParts(guard, outbox, post, Notifier(outbox, PriceReads(store.database), post, clock))
