"""Notify: turn the changes of every feed into notices, and deliver each to its subscribers.

A notice is stored before it is sent and marked after it was accepted: delivery is at least once. Its idempotency key is
the same each time.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol

from tidemill.operations.webhooks.feeds import ChangeFeed
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, Notice, Subscription, WebhookTransport

BATCH_SIZE = 500
"""Changes read, and deliveries sent, in one round."""
AT_ONCE = 8
"""Subscribers that are called at the same time; each gets its notices one after the other."""


class Outbox(Protocol):
    """The outbox of notices."""

    async def cursor(self, feed: str) -> int | None:
        """Return the last change of a feed that was looked at; None before the first subscription."""
        ...

    async def subscriptions(self) -> list[Subscription]:
        """Return the enabled subscriptions."""
        ...

    async def put(self, feed: str, notices: Sequence[tuple[Subscription, Notice]], cursor: int, now: datetime) -> int:
        """Store deliveries and the cursor in one transaction, and return how many are new."""
        ...

    async def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Return the deliveries that are due."""
        ...

    async def record(self, sent: Sequence[DeliveryAttempt], now: datetime) -> None:
        """Store the result of each attempt."""
        ...


class Notifier:
    """Collects notices from the feeds and delivers them."""

    def __init__(self, outbox: Outbox, feeds: Iterable[ChangeFeed], transport: WebhookTransport, clock: Clock) -> None:
        """The feeds show what readers may see, so that no notice reveals more."""
        self._outbox = outbox
        self.feeds: Mapping[str, ChangeFeed] = {feed.name: feed for feed in feeds}
        self._transport = transport
        self._clock = clock

    async def notify(self) -> str:
        """Store new notices, then send what is due; return a summary."""
        noted = await self.collect()
        sent = await self.deliver()
        taken = sum(each.is_accepted for each in sent)
        return f"{noted} notices noted, {taken} of {len(sent)} taken"

    async def collect(self) -> int:
        """Store notices of new changes for every subscription that covers them; a feed without any is not read."""
        by_feed: dict[str, list[Subscription]] = {}
        for subscription in await self._outbox.subscriptions():
            by_feed.setdefault(subscription.feed, []).append(subscription)
        return sum(
            [await self._collect(self.feeds[name], those) for name, those in by_feed.items() if name in self.feeds]
        )

    async def _collect(self, feed: ChangeFeed, subscribers: Sequence[Subscription]) -> int:
        narrowed = [(each, feed.parse_filters(each.only)) for each in subscribers]
        known = await self._outbox.cursor(feed.name)
        cursor = await feed.newest() if known is None else known
        count = 0
        while entries := await feed.after(cursor, BATCH_SIZE):
            cursor = entries[-1].seq
            notices = [notice for entry in entries for notice in entry.notices]
            wanted = [
                (each, notice) for notice in notices for each, only in narrowed
                if notice.kind in each.kinds and feed.covers(notice, only)
            ]  # fmt: skip
            count += await self._outbox.put(feed.name, wanted, cursor, self._clock.now())
        return count

    async def deliver(self) -> list[DeliveryAttempt]:
        """Send due deliveries, several subscribers at a time.

        One that does not answer at all is left alone for the rest of the round, so that it costs the others one
        time-out and not one for each of its notices.
        """
        due = await self._outbox.due(self._clock.now(), BATCH_SIZE)
        of: Any = attrgetter("subscription_id")
        queues = [list(those) for _, those in groupby(sorted(due, key=of), key=of)]
        slots = asyncio.Semaphore(AT_ONCE)

        async def send_queue(queue: Sequence[Delivery]) -> list[DeliveryAttempt]:
            sent: list[DeliveryAttempt] = []
            async with slots:
                for delivery in queue:
                    sent.append(await self.send(delivery))
                    if sent[-1].code == 0:
                        break
            return sent

        return [each for sent in await asyncio.gather(*map(send_queue, queues)) for each in sent]

    async def send(self, delivery: Delivery) -> DeliveryAttempt:
        """Send one delivery and keep what came of it."""
        attempt = await self._transport.send(delivery, self._clock.now())
        await self._outbox.record([attempt], self._clock.now())
        return attempt
