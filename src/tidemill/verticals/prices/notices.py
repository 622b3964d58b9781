"""Notify: turn what readers can see to have changed into notices, and bring each to whoever subscribed.

A notice is written down before it is sent and crossed out after it was taken: it may come twice, never not at all.
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

AT_ONCE = 500
"""Changes looked at, and deliveries made, in one round."""

_encode = msgspec.json.Encoder().encode


class NoticeKind(StrEnum):
    """What readers can be told of."""

    BACK_IN_STOCK = "back_in_stock"
    PRICE_DROP = "price_drop"


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One thing worth telling; `key` is the same however often it is sent."""

    key: str
    kind: NoticeKind
    change: ChangeView
    drop_percent: float = 0.0


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """Who wants to know of what, and the secret that proves that it is us who tell."""

    id: int
    url: str
    secret: str
    kinds: Sequence[str]
    product_id: int | None = None
    least_drop_percent: float = 0.0


def notices_of(change: ChangeView) -> list[Notice]:
    """What a change is worth telling of: stock that is back, a price that fell in the same currency."""
    found = []
    if change.availability == "IN_STOCK" and change.was_availability not in {None, "IN_STOCK"}:
        found.append(Notice(key=f"back_in_stock-{change.price_id}", kind=NoticeKind.BACK_IN_STOCK, change=change))
    drop = drop_percent(change)
    if drop > 0:
        key = f"price_drop-{change.price_id}"
        found.append(Notice(key=key, kind=NoticeKind.PRICE_DROP, change=change, drop_percent=drop))
    return found


def drop_percent(change: ChangeView) -> float:
    """By how many percent the price fell; 0 if it did not, or cannot be compared."""
    if not change.was_cents or change.was_currency != change.currency or change.price_cents >= change.was_cents:
        return 0.0
    return round(100 * (change.was_cents - change.price_cents) / change.was_cents, 2)


def is_wanted(notice: Notice, by: Subscription) -> bool:
    """Whether a subscriber asked for this."""
    if notice.kind.value not in by.kinds:
        return False
    if by.product_id is not None and by.product_id != notice.change.product_id:
        return False
    return notice.kind is not NoticeKind.PRICE_DROP or notice.drop_percent >= by.least_drop_percent


def body_of(notice: Notice) -> bytes:
    """The notice as it is sent."""
    return _encode(notice)


class Outbox(Protocol):
    """Where notices wait to be taken."""

    async def cursor(self) -> int:
        """The last change that was looked at."""
        ...

    async def subscriptions(self) -> list[Subscription]:
        """Those that are switched on."""
        ...

    async def put(self, notices: Sequence[tuple[Subscription, Notice]], cursor: int, now: datetime) -> int:
        """Write down what is to be sent, and how far the changes were looked at, at once; answers how many are new."""
        ...

    async def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Those whose time has come."""
        ...

    async def record(self, sent: Sequence[DeliveryAttempt], now: datetime) -> None:
        """Write down what became of each attempt."""
        ...


class Changes(Protocol):
    """What readers can see to have changed."""

    async def changes(self, after: int = 0, *, limit: int = 100) -> list[ChangeView]:
        """In the order in which it became visible."""
        ...


class Notifier:
    """Looks at what changed, and tells whoever asked to be told."""

    def __init__(self, outbox: Outbox, changes: Changes, post: WebhookTransport, clock: Clock) -> None:
        """`changes` are the readers' own: what they may not see, no notice tells of."""
        self._outbox = outbox
        self._changes = changes
        self._post = post
        self._clock = clock

    async def notify(self) -> str:
        """One round: write down what is new, then send what is due; answers in a few words what was done."""
        noted = await self.collect()
        sent = await self.deliver()
        taken = sum(each.is_accepted for each in sent)
        return f"{noted} notices noted, {taken} of {len(sent)} taken"

    async def collect(self) -> int:
        """Turn changes into notices for every subscriber that wants them."""
        subscribers = await self._outbox.subscriptions()
        count = 0
        cursor = await self._outbox.cursor()
        while changes := await self._changes.changes(cursor, limit=AT_ONCE):
            cursor = changes[-1].seq
            notices = [notice for change in changes for notice in notices_of(change)]
            wanted = [(each, notice) for notice in notices for each in subscribers if is_wanted(notice, each)]
            count += await self._outbox.put(wanted, cursor, self._clock.now())
        return count

    async def deliver(self) -> list[DeliveryAttempt]:
        """Send what is due, one after the other: a slow subscriber delays only this round."""
        sent = []
        for delivery in await self._outbox.due(self._clock.now(), AT_ONCE):
            sent.append(await self._post.send(delivery, self._clock.now()))
            await self._outbox.record(sent[-1:], self._clock.now())
        return sent
