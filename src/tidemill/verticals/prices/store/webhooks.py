"""Subscriptions and the outbox: what is to be sent is written down before it is sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, func, select, text, update

from tidemill.core.audit import AuditEntry
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, next_attempt
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import engine_state, id_blocks, webhook_deliveries, webhook_subscriptions
from tidemill.store.upkeep.audit import take_keys, write_audit
from tidemill.verticals.prices.notices import Notice, Subscription, body_of
from tidemill.verticals.prices.views import DeliveryView, SubscriptionView

CURSOR = "webhooks_cursor"
LONGEST_ERROR = 500

_DUE = (
    select(webhook_deliveries, webhook_subscriptions.c.url, webhook_subscriptions.c.secret)
    .join(webhook_subscriptions, webhook_subscriptions.c.id == webhook_deliveries.c.subscription_id)
    .where(text("webhook_deliveries.status = 'pending'"), webhook_deliveries.c.next_attempt_at <= bindparam("b_now"))
    .where(webhook_subscriptions.c.enabled)
    .order_by(webhook_deliveries.c.next_attempt_at, webhook_deliveries.c.id)
    .limit(bindparam("b_limit"))
)
_RECORD = (
    update(webhook_deliveries)
    .where(webhook_deliveries.c.id == bindparam("b_id"))
    .values({name: bindparam(f"b_{name}") for name in
             ("status", "attempts", "next_attempt_at", "last_code", "last_error", "delivered_at")})
)  # fmt: skip
_SHOWN = [webhook_subscriptions.c[name] for name in SubscriptionView.__struct_fields__]


class WebhookRepository:
    """Where notices wait to be taken."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def cursor(self) -> int:
        """The last change that was looked at; without one, whatever has changed so far is old news."""
        query = select(engine_state.c.value).where(engine_state.c.name == CURSOR)
        newest = select(id_blocks.c.next_id - 1).where(id_blocks.c.name == "price_changes")
        async with self._database.read() as connection:
            known = (await connection.execute(query)).scalar()
            if known is not None:
                return int(known)
            return int((await connection.execute(newest)).scalar() or 0)

    async def subscriptions(self) -> list[Subscription]:
        """Those that are switched on."""
        query = (
            select(webhook_subscriptions).where(webhook_subscriptions.c.enabled).order_by(webhook_subscriptions.c.id)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings()
            return [Subscription(**{name: row[name] for name in Subscription.__struct_fields__}) for row in rows]

    async def put(self, notices: Sequence[tuple[Subscription, Notice]], cursor: int, now: datetime) -> int:
        """Write down what is to be sent, and how far the changes were looked at, in one transaction."""
        keys = await take_keys(self._ids, len(notices))
        rows = [_delivery_row(key, by, notice, now) for key, (by, notice) in zip(keys, notices, strict=True)]
        fresh = self._database.insert(webhook_deliveries).on_conflict_do_nothing()
        async with self._database.write() as connection:
            before = (await connection.execute(_HOW_MANY)).scalar_one()
            if rows:
                await connection.execute(fresh, rows)
            await connection.execute(self._moved(), [{"name": CURSOR, "value": cursor, "updated_at": now}])
            return int((await connection.execute(_HOW_MANY)).scalar_one() - before)

    async def start_from_now(self, now: datetime) -> None:
        """Remember where news begins, so that the first subscriber hears of nothing older."""
        await self.put([], await self.cursor(), now)

    def _moved(self) -> Any:
        statement = self._database.insert(engine_state)
        fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
        return statement.on_conflict_do_update(index_elements=["name"], set_=fresh)

    async def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Those whose time has come, of subscribers that are switched on."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_DUE, {"b_now": now, "b_limit": limit})).mappings()
            return [Delivery(**{name: row[name] for name in Delivery.__struct_fields__}) for row in rows]

    async def record(self, sent: Sequence[DeliveryAttempt], now: datetime) -> None:
        """Write down what became of each attempt."""
        async with self._database.write() as connection:
            await connection.execute(_RECORD, [_record_row(each, now) for each in sent])

    async def add(
        self, subscription: Subscription, name: str, by: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> int:
        """Keep a new subscription; answers its key."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        row = {
            "id": key,
            "name": name,
            "url": subscription.url,
            "secret": subscription.secret,
            "kinds": list(subscription.kinds),
            "product_id": subscription.product_id,
            "least_drop_percent": subscription.least_drop_percent,
            "created_by": by,
            "created_at": now,
        }
        async with self._database.write() as connection:
            await connection.execute(webhook_subscriptions.insert(), [row])
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return key

    async def remove(self, key: int, now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Forget a subscription and what it still waits for."""
        noted = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            mine = (webhook_deliveries.c.subscription_id == key, webhook_deliveries.c.status == "pending")
            await connection.execute(delete(webhook_deliveries).where(*mine))
            await connection.execute(delete(webhook_subscriptions).where(webhook_subscriptions.c.id == key))
            await write_audit(connection, zip(noted, audit, strict=True), now)

    async def every(self) -> list[SubscriptionView]:
        """All subscriptions by name, without their secrets."""
        async with self._database.read() as connection:
            rows = await connection.execute(select(*_SHOWN).order_by(webhook_subscriptions.c.name))
            return [SubscriptionView(**row) for row in rows.mappings()]

    async def deliveries(
        self, *, status: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryView]:
        """Notices that were or will be sent, the newest first."""
        kept = (name for name in DeliveryView.__struct_fields__ if name in webhook_deliveries.c)
        who = func.coalesce(webhook_subscriptions.c.name, "").label("subscription")
        query = select(*(webhook_deliveries.c[name] for name in kept), who).outerjoin(
            webhook_subscriptions, webhook_subscriptions.c.id == webhook_deliveries.c.subscription_id
        )
        if status is not None:
            query = query.where(webhook_deliveries.c.status == status)
        if before is not None:
            query = query.where(webhook_deliveries.c.id < before)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(webhook_deliveries.c.id.desc()).limit(limit))
            return [DeliveryView(**row) for row in rows.mappings()]

    async def retry(self, now: datetime, audit: Sequence[AuditEntry] = ()) -> int:
        """Try what was given up once more, from the start; answers how many."""
        noted = await take_keys(self._ids, len(audit))
        again = {"status": "pending", "attempts": 0, "next_attempt_at": now}
        async with self._database.write() as connection:
            done = await connection.execute(
                update(webhook_deliveries).where(webhook_deliveries.c.status == "failed").values(**again)
            )
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return int(done.rowcount)


_HOW_MANY = select(func.count()).select_from(webhook_deliveries)


def _delivery_row(key: int, by: Subscription, notice: Notice, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "subscription_id": by.id,
        "notice_key": notice.key,
        "kind": notice.kind,
        "body": body_of(notice),
        "next_attempt_at": now,
        "created_at": now,
    }


def _record_row(sent: DeliveryAttempt, now: datetime) -> dict[str, Any]:
    attempts = sent.delivery.attempts + 1
    later = None if sent.is_accepted else next_attempt(attempts, now)
    return {
        "b_id": sent.delivery.id,
        "b_status": "delivered" if sent.is_accepted else "pending" if later is not None else "failed",
        "b_attempts": attempts,
        "b_next_attempt_at": later,
        "b_last_code": sent.code or None,
        "b_last_error": storable(sent.error, LONGEST_ERROR) or None,
        "b_delivered_at": now if sent.is_accepted else None,
    }
