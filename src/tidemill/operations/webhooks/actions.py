"""What a person can do with webhooks: subscribe a URL to a feed, rotate its secret, test it, replay deliveries."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.urls import BadUrl, normalize
from tidemill.core.views.changes import DeliveryDetail, DeliveryView, FeedView, SubscriptionView
from tidemill.operations.mistakes import Conflict, Mistake, NotFound, require_found, unknown_name
from tidemill.operations.webhooks.feeds import ChangeFeed
from tidemill.operations.webhooks.notifier import Notifier
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.webhooks import BOTH_SECRETS, Notice, Subscription
from tidemill.store.services.webhooks import WebhookRepository

LONGEST_NAME = 100
TEST_KIND = "test"


class Subscribed(msgspec.Struct, frozen=True):
    """A subscription with its new secret, which is shown this once."""

    subscription: SubscriptionView
    secret: str


class WebhookActions:
    """Manages webhook subscriptions; every action is audited."""

    def __init__(
        self, repository: WebhookRepository, notifier: Notifier, refusal: Callable[[str], str], clock: Clock
    ) -> None:
        """`refusal` returns why a URL may not be called, '' if it may."""
        self._repository = repository
        self.notifier = notifier
        self._refusal = refusal
        self._clock = clock

    def feeds(self) -> list[FeedView]:
        """Return what can be subscribed to."""
        return [feed.view for feed in self.notifier.feeds.values()]

    async def subscribe(
        self,
        name: str,
        url: str,
        actor: str,
        *,
        feed: str,
        kinds: Sequence[str] = (),
        only: Mapping[str, Any] | None = None,
    ) -> Subscribed:
        """Subscribe a URL to a feed from now on, to all kinds when none are named; `only` narrows it."""
        chosen = self._feed(feed)
        chosen.parse_filters(only or {})
        wanted = tuple(kinds) or tuple(chosen.kinds)
        await self._check(name, wanted, chosen)
        secret, address, now = secrets.token_hex(32), self._address(url), self._clock.now()
        subscription = Subscription(id=0, url=address, secret=secret, feed=feed, kinds=wanted, only=dict(only or {}))
        if await self._repository.cursor(feed) is None or not await self._repository.has_subscribers(feed):
            await self._repository.start_from(feed, await chosen.newest(), now)
        detail = {"url": address, "feed": feed, "kinds": list(wanted), "only": dict(only or {})}
        note = AuditEntry(actor, "webhook.subscribe", f"webhook {name}", detail)
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
        """Remove a subscription, and what it still waits for."""
        found = await self.find(name)
        note = AuditEntry(actor, "webhook.unsubscribe", f"webhook {name}", {"url": found.url, "feed": found.feed})
        await self._repository.remove(found.id, self._clock.now(), [note])
        return found

    async def switch(self, name: str, actor: str, *, enabled: bool) -> SubscriptionView:
        """Pause a subscription or take it up again; while it is paused its notices are not noted."""
        found = await self.find(name)
        deed = "webhook.enable" if enabled else "webhook.disable"
        note = AuditEntry(actor, deed, f"webhook {name}", {"before": found.enabled, "after": enabled})
        await self._repository.switch(found.id, self._clock.now(), [note], enabled=enabled)
        return await self.find(name)

    async def rotate(self, name: str, actor: str) -> Subscribed:
        """Give a webhook a new secret, shown this once; the old one signs beside it for another day."""
        found = await self.find(name)
        secret, now = secrets.token_hex(32), self._clock.now()
        until = now + BOTH_SECRETS
        note = AuditEntry(actor, "webhook.rotate", f"webhook {name}", {"old_secret_until": until.isoformat()})
        await self._repository.rotate(found.id, secret, until, now, [note])
        return Subscribed(await self.find(name), secret)

    async def test(self, name: str, actor: str) -> DeliveryView:
        """Send a test notice now, in one try, and return what came of it."""
        found = await self.find(name)
        now = self._clock.now()
        key = f"{TEST_KIND}-{secrets.token_hex(8)}"
        notice = Notice(key=key, feed=found.feed, kind=TEST_KIND, at=now, change={"note": f"asked for by {actor}"})
        note = AuditEntry(actor, "webhook.test", f"webhook {name}", {"key": key})
        delivery = await self._repository.put_test(found.id, notice, now, [note])
        await self.notifier.send(delivery)
        return (await self.delivery(delivery.id)).delivery

    async def every(self) -> list[SubscriptionView]:
        """Return all subscriptions."""
        return await self._repository.every()

    async def deliveries(
        self, *, webhook: str | None = None, status: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryView]:
        """Return deliveries, the newest first."""
        key = None if webhook is None else (await self.find(webhook)).id
        return await self._repository.deliveries(subscription=key, status=status, before=before, limit=limit)

    async def delivery(self, key: int) -> DeliveryDetail:
        """Return a delivery with its body and its tries."""
        return require_found(await self._repository.delivery(key), "delivery", key)

    async def replay(self, key: int, actor: str) -> DeliveryDetail:
        """Send a delivery again, whatever came of it, with the same key and body."""
        found = (await self.delivery(key)).delivery
        if not found.subscription:
            msg = f"the webhook of delivery {key} is removed; there is nobody to send it to"
            raise Conflict(msg)
        note = AuditEntry(actor, "webhook.replay", f"webhook {found.subscription}", {"delivery": key})
        await self._repository.replay(self._clock.now(), [note], keys=[key])
        return await self.delivery(key)

    async def replay_since(self, name: str, since: datetime, actor: str) -> int:
        """Send all again that a webhook was told since a moment, and return how many."""
        found = await self.find(name)
        note = AuditEntry(actor, "webhook.replay", f"webhook {name}", {"since": since.isoformat()})
        return await self._repository.replay(self._clock.now(), [note], subscription=found.id, since=since)

    async def retry(self, actor: str) -> int:
        """Retry deliveries that were given up, and return how many."""
        note = AuditEntry(actor, "webhook.retry", "webhooks")
        return await self._repository.replay(self._clock.now(), [note], status="failed")

    def _feed(self, name: str) -> ChangeFeed:
        if (feed := self.notifier.feeds.get(name)) is None:
            raise Mistake(unknown_name("feed", name, self.notifier.feeds))
        return feed

    async def _check(self, name: str, kinds: Sequence[str], feed: ChangeFeed) -> None:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name:
            msg = f"name the webhook in at most {LONGEST_NAME} printable characters, without /"
            raise Mistake(msg)
        for kind in kinds:
            if kind not in feed.kinds:
                raise Mistake(unknown_name("kind", kind, feed.kinds))
        if any(each.name == name for each in await self._repository.every()):
            msg = f"there is a webhook {name!r} already; remove it first"
            raise Conflict(msg)

    def _address(self, url: str) -> str:
        try:
            address = normalize(url)
        except BadUrl as error:
            raise Mistake(str(error)) from error
        if refusal := self._refusal(address):
            msg = f"{address} may not be called: {refusal}"
            raise Mistake(msg)
        return address
