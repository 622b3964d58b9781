"""Notify: turn visible price changes into notices, and deliver each to its subscribers.

A notice is stored before it is sent and marked after it was accepted: delivery is at least once.
Its idempotency key is the same each time.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import msgspec

from tidemill.pipeline.ports import Clock
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, WebhookTransport
from tidemill.verticals.prices.views import ChangeView

BATCH_SIZE = 500
"""Changes read, and deliveries sent, in one round."""

_encode = msgspec.json.Encoder().encode


class NoticeKind(StrEnum):
    """The kinds of notice."""

    BACK_IN_STOCK = "back_in_stock"
    PRICE_DROP = "price_drop"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One notice; `key` is the same however often it is sent."""

    key: str
    kind: NoticeKind
    change: ChangeView
    drop_percent: float = 0.0


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """A subscriber, the notices it wants, and the secret that signs them."""

    id: int
    url: str
    secret: str
    kinds: Sequence[str]
    product_id: int | None = None
    least_drop_percent: float = 0.0


def notices_of(change: ChangeView) -> list[Notice]:
    """Return the notices of a change: back in stock, or a lower price in the same currency."""
    found = []
    if change.availability == "IN_STOCK" and change.was_availability not in {None, "IN_STOCK"}:
        found.append(Notice(key=f"back_in_stock-{change.price_id}", kind=NoticeKind.BACK_IN_STOCK, change=change))
    drop = drop_percent(change)
    if drop > 0:
        key = f"price_drop-{change.price_id}"
        found.append(Notice(key=key, kind=NoticeKind.PRICE_DROP, change=change, drop_percent=drop))
    return found


def drop_percent(change: ChangeView) -> float:
    """Return by how many percent the price fell; 0 if it did not, or cannot be compared."""
    if not change.was_cents or change.was_currency != change.currency or change.price_cents >= change.was_cents:
        return 0.0
    return round(100 * (change.was_cents - change.price_cents) / change.was_cents, 2)


def is_wanted(notice: Notice, subscription: Subscription) -> bool:
    """Return whether a subscription covers a notice."""
    if notice.kind.value not in subscription.kinds:
        return False
    if subscription.product_id is not None and subscription.product_id != notice.change.product_id:
        return False
    return notice.kind is not NoticeKind.PRICE_DROP or notice.drop_percent >= subscription.least_drop_percent


def body_of(notice: Notice) -> bytes:
    """Return the notice as JSON."""
    return _encode(notice)


class Outbox(Protocol):
    """The outbox of notices."""

    async def cursor(self) -> int:
        """Return the last change that was processed."""
        ...

    async def subscriptions(self) -> list[Subscription]:
        """Return the enabled subscriptions."""
        ...

    async def put(self, notices: Sequence[tuple[Subscription, Notice]], cursor: int, now: datetime) -> int:
        """Store deliveries and the cursor in one transaction, and return how many are new."""
        ...

    async def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Return the deliveries that are due."""
        ...

    async def record(self, sent: Sequence[DeliveryAttempt], now: datetime) -> None:
        """Store the result of each attempt."""
        ...


class Changes(Protocol):
    """The price changes that readers can see."""

    async def changes(self, after: int = 0, *, limit: int = 100) -> list[ChangeView]:
        """Return changes in the order in which they became visible."""
        ...


class Notifier:
    """Collects notices from price changes and delivers them."""

    def __init__(self, outbox: Outbox, changes: Changes, transport: WebhookTransport, clock: Clock) -> None:
        """`changes` are those that readers may see, so that no notice reveals more."""
        self._outbox = outbox
        self._changes = changes
        self._transport = transport
        self._clock = clock

    async def notify(self) -> str:
        """Store new notices, then send what is due; return a summary."""
        noted = await self.collect()
        sent = await self.deliver()
        taken = sum(each.is_accepted for each in sent)
        return f"{noted} notices noted, {taken} of {len(sent)} taken"

    async def collect(self) -> int:
        """Store notices of new changes for every subscription that covers them."""
        subscribers = await self._outbox.subscriptions()
        count = 0
        cursor = await self._outbox.cursor()
        while changes := await self._changes.changes(cursor, limit=BATCH_SIZE):
            cursor = changes[-1].seq
            notices = [notice for change in changes for notice in notices_of(change)]
            wanted = [(each, notice) for notice in notices for each in subscribers if is_wanted(notice, each)]
            count += await self._outbox.put(wanted, cursor, self._clock.now())
        return count

    async def deliver(self) -> list[DeliveryAttempt]:
        """Send due deliveries one after the other, so that a slow subscriber delays only this round."""
        sent = []
        for delivery in await self._outbox.due(self._clock.now(), BATCH_SIZE):
            sent.append(await self._transport.send(delivery, self._clock.now()))
            await self._outbox.record(sent[-1:], self._clock.now())
        return sent
