"""What a person can do with webhooks: subscribe and unsubscribe a URL, list deliveries, retry."""

import secrets
from collections.abc import Callable, Sequence

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.urls import BadUrl, normalize
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.verticals.prices.notices import NoticeKind, Subscription
from tidemill.verticals.prices.store.webhooks import WebhookRepository
from tidemill.verticals.prices.views import DeliveryView, SubscriptionView

LONGEST_NAME = 100


class Subscribed(msgspec.Struct, frozen=True):
    """A new subscription with its secret, which is shown this once."""

    subscription: SubscriptionView
    secret: str


class WebhookActions:
    """Manages webhook subscriptions; every action is audited."""

    def __init__(self, repository: WebhookRepository, refusal: Callable[[str], str], clock: Clock) -> None:
        """`refusal` returns why a URL may not be called, '' if it may."""
        self._repository = repository
        self._refusal = refusal
        self._clock = clock

    async def subscribe(
        self,
        name: str,
        url: str,
        actor: str,
        *,
        kinds: Sequence[str] = (),
        product_id: int | None = None,
        least_drop_percent: float = 0.0,
    ) -> Subscribed:
        """Subscribe a URL to changes from now on, of all kinds when none are named."""
        wanted = tuple(kinds) or tuple(kind.value for kind in NoticeKind)
        await self._check(name, wanted)
        secret = secrets.token_hex(32)
        address = self._address(url)
        subscription = Subscription(
            id=0, url=address, secret=secret, kinds=wanted, product_id=product_id, least_drop_percent=least_drop_percent
        )
        now = self._clock.now()
        if not await self._repository.every():
            await self._repository.start_from_now(now)
        note = AuditEntry(actor, "webhook.subscribe", f"webhook {name}", {"url": address, "kinds": list(wanted)})
        await self._repository.add(subscription, name, actor, now, [note])
        return Subscribed(await self.find(name), secret)

    async def find(self, name: str) -> SubscriptionView:
        """Return a subscription by name; raise `NotFound` if there is none."""
        every = await self._repository.every()
        for each in every:
            if each.name == name:
                return each
        raise NotFound(unknown_name("webhook", name, [each.name for each in every]))

    async def unsubscribe(self, name: str, actor: str) -> SubscriptionView:
        """Remove a subscription."""
        found = await self.find(name)
        note = AuditEntry(actor, "webhook.unsubscribe", f"webhook {name}", {"url": found.url})
        await self._repository.remove(found.id, self._clock.now(), [note])
        return found

    async def every(self) -> list[SubscriptionView]:
        """Return all subscriptions."""
        return await self._repository.every()

    async def deliveries(
        self, *, status: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryView]:
        """Return deliveries, the newest first."""
        return await self._repository.deliveries(status=status, before=before, limit=limit)

    async def retry(self, actor: str) -> int:
        """Retry deliveries that were given up, and return how many."""
        note = AuditEntry(actor, "webhook.retry", "webhooks")
        return await self._repository.retry(self._clock.now(), [note])

    async def _check(self, name: str, kinds: Sequence[str]) -> None:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            msg = f"name the webhook in at most {LONGEST_NAME} printable characters"
            raise Mistake(msg)
        known = [kind.value for kind in NoticeKind]
        for kind in kinds:
            if kind not in known:
                raise Mistake(unknown_name("kind", kind, known))
        if any(each.name == name for each in await self._repository.every()):
            msg = f"there is a webhook {name!r} already; remove it first"
            raise Mistake(msg)

    def _address(self, url: str) -> str:
        try:
            address = normalize(url)
        except BadUrl as error:
            raise Mistake(str(error)) from error
        if refusal := self._refusal(address):
            msg = f"{address} may not be called: {refusal}"
            raise Mistake(msg)
        return address
