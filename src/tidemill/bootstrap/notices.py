"""Notices of what changed: the outbox, the guarded way out, and the chore that brings them together."""

from dataclasses import dataclass

from tidemill.bootstrap.storing import Store
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import Guard
from tidemill.pipeline.notify import Notifier
from tidemill.pipeline.ports import Clock
from tidemill.services.webhooks import WebhookPost
from tidemill.settings import Settings
from tidemill.store.services.webhooks import Outbox
from tidemill.verticals.prices.store.views import PriceReads


@dataclass(frozen=True, slots=True)
class Notices:
    """Everything about telling others."""

    guard: Guard
    outbox: Outbox
    post: WebhookPost
    notifier: Notifier


def build_notices(settings: Settings, store: Store, clock: Clock) -> Notices:
    """Wire them; subscribers' addresses pass the same guard as everything else that we call."""
    guard = Guard(settings.allow_networks)
    transport = AiohttpTransport(guard, resolve=settings.host_addresses, max_connections=10)
    outbox = Outbox(store.database, store.ids)
    post = WebhookPost(transport, guard.refusal, settings.user_agent)
    return Notices(guard, outbox, post, Notifier(outbox, PriceReads(store.database), post, clock))
