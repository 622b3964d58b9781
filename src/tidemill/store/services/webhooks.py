"""Webhook subscriptions and the outbox: what is to be sent is written down before it is sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, delete, exists, func, select, text, update

from tidemill.core.audit import AuditEntry
from tidemill.core.views.changes import DeliveryDetail, DeliveryTry, DeliveryView, SubscriptionView
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, Notice, Subscription, next_attempt
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import engine_state, webhook_deliveries, webhook_subscriptions
from tidemill.store.upkeep.audit import take_keys, write_audit

LONGEST_ERROR = 500
KEPT_TRIES = 20
"""Tries of a delivery that are kept, the latest ones."""

_encode = msgspec.json.Encoder().encode
_OF_SUBSCRIPTION = ("url", "secret", "previous_secret", "previous_until")
_DELIVERY = (
    select(
        *(webhook_deliveries.c[name] for name in Delivery.__struct_fields__ if name in webhook_deliveries.c),
        *(webhook_subscriptions.c[name] for name in _OF_SUBSCRIPTION),
    )
    .join(webhook_subscriptions, webhook_subscriptions.c.id == webhook_deliveries.c.subscription_id)
)  # fmt: skip
_DUE = (
    _DELIVERY.where(text("webhook_deliveries.status = 'pending'"))
    .where(webhook_deliveries.c.next_attempt_at <= bindparam("b_now"), webhook_subscriptions.c.enabled)
    .order_by(webhook_deliveries.c.next_attempt_at, webhook_deliveries.c.id)
    .limit(bindparam("b_limit"))
)
_RECORD = (
    update(webhook_deliveries)
    .where(webhook_deliveries.c.id == bindparam("b_id"))
    .values({name: bindparam(f"b_{name}") for name in
             ("status", "attempts", "next_attempt_at", "last_code", "last_error", "delivered_at", "tries")})
)  # fmt: skip
_SHOWN = [webhook_subscriptions.c[name] for name in SubscriptionView.__struct_fields__]
_HOW_MANY = select(func.count()).select_from(webhook_deliveries)


class WebhookRepository:
    """Where notices wait to be taken."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def cursor(self, feed: str) -> int | None:
        """The last change of a feed that was looked at; None if it has never had a subscriber."""
        query = select(engine_state.c.value).where(engine_state.c.name == _cursor_name(feed))
        async with self._database.read() as connection:
            known = (await connection.execute(query)).scalar()
        return None if known is None else int(known)

    async def has_subscribers(self, feed: str) -> bool:
        """Whether somebody follows a feed now."""
        query = select(exists().where(webhook_subscriptions.c.feed == feed, webhook_subscriptions.c.enabled))
        async with self._database.read() as connection:
            return bool((await connection.execute(query)).scalar())

    async def subscriptions(self) -> list[Subscription]:
        """Those that are switched on."""
        query = (
            select(webhook_subscriptions).where(webhook_subscriptions.c.enabled).order_by(webhook_subscriptions.c.id)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings()
            return [Subscription(**{name: row[name] for name in Subscription.__struct_fields__}) for row in rows]

    async def put(self, feed: str, notices: Sequence[tuple[Subscription, Notice]], cursor: int, now: datetime) -> int:
        """Write down what is to be sent, and how far the feed was looked at, in one transaction."""
        keys = await take_keys(self._ids, len(notices))
        rows = [_delivery_row(key, by.id, notice, now) for key, (by, notice) in zip(keys, notices, strict=True)]
        fresh = self._database.insert(webhook_deliveries).on_conflict_do_nothing()
        async with self._database.write() as connection:
            before = (await connection.execute(_HOW_MANY)).scalar_one()
            if rows:
                await connection.execute(fresh, rows)
            await connection.execute(self._moved(), [{"name": _cursor_name(feed), "value": cursor, "updated_at": now}])
            return int((await connection.execute(_HOW_MANY)).scalar_one() - before)

    async def start_from(self, feed: str, cursor: int, now: datetime) -> None:
        """Remember where news begins, so that the first subscriber of a feed hears of nothing older."""
        await self.put(feed, [], cursor, now)

    async def put_test(self, subscription: int, notice: Notice, now: datetime, audit: Sequence[AuditEntry]) -> Delivery:
        """Write down a notice that is sent at once and never retried by itself."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        row = {**_delivery_row(key, subscription, notice, now), "status": "failed", "next_attempt_at": None}
        async with self._database.write() as connection:
            await connection.execute(webhook_deliveries.insert(), [row])
            await write_audit(connection, zip(noted, audit, strict=True), now)
            query = _DELIVERY.where(webhook_deliveries.c.id == key)
            return Delivery(**(await connection.execute(query)).mappings().one())

    def _moved(self) -> Any:
        statement = self._database.insert(engine_state)
        fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
        return statement.on_conflict_do_update(index_elements=["name"], set_=fresh)

    async def due(self, now: datetime, limit: int) -> list[Delivery]:
        """Those whose time has come, of subscribers that are switched on."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_DUE, {"b_now": now, "b_limit": limit})).mappings()
            return [Delivery(**row) for row in rows]

    async def record(self, sent: Sequence[DeliveryAttempt], now: datetime) -> None:
        """Keep what came of each try."""
        async with self._database.write() as connection:
            await connection.execute(_RECORD, [_record_row(each, now) for each in sent])

    async def add(
        self, subscription: Subscription, name: str, by: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> int:
        """Keep a new subscription; answers its key."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        kept = msgspec.structs.asdict(subscription)
        row = {**kept, "id": key, "name": name, "kinds": list(subscription.kinds), "created_by": by, "created_at": now}
        async with self._database.write() as connection:
            await connection.execute(webhook_subscriptions.insert(), [row])
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return key

    async def switch(self, key: int, now: datetime, audit: Sequence[AuditEntry], *, enabled: bool) -> None:
        """Switch a subscription on or off."""
        await self._change(key, {"enabled": enabled}, now, audit)

    async def rotate(self, key: int, secret: str, until: datetime, now: datetime, audit: Sequence[AuditEntry]) -> None:
        """Put a new secret in the place of the current one, which signs beside it until a moment."""
        old = webhook_subscriptions.c.secret
        await self._change(key, {"secret": secret, "previous_secret": old, "previous_until": until}, now, audit)

    async def _change(self, key: int, values: dict[str, Any], now: datetime, audit: Sequence[AuditEntry]) -> None:
        noted = await take_keys(self._ids, len(audit))
        changed = update(webhook_subscriptions).where(webhook_subscriptions.c.id == key).values(**values)
        async with self._database.write() as connection:
            await connection.execute(changed)
            await write_audit(connection, zip(noted, audit, strict=True), now)

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
        self,
        *,
        subscription: int | None = None,
        status: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[DeliveryView]:
        """Notices that were or will be sent, the newest first."""
        query = _deliveries()
        if subscription is not None:
            query = query.where(webhook_deliveries.c.subscription_id == subscription)
        if status is not None:
            query = query.where(webhook_deliveries.c.status == status)
        if before is not None:
            query = query.where(webhook_deliveries.c.id < before)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(webhook_deliveries.c.id.desc()).limit(limit))
            return [DeliveryView(**row) for row in rows.mappings()]

    async def delivery(self, key: int) -> DeliveryDetail | None:
        """A delivery with its body and its tries."""
        told = select(webhook_deliveries.c.body, webhook_deliveries.c.tries).where(webhook_deliveries.c.id == key)
        async with self._database.read() as connection:
            row = (await connection.execute(_deliveries().where(webhook_deliveries.c.id == key))).mappings().first()
            if row is None:
                return None
            body, tries = (await connection.execute(told)).one()
        return DeliveryDetail(
            delivery=DeliveryView(**row),
            body=msgspec.json.decode(body),
            tries=msgspec.convert(tries, list[DeliveryTry]),
        )

    async def replay(
        self,
        now: datetime,
        audit: Sequence[AuditEntry] = (),
        *,
        keys: Sequence[int] | None = None,
        subscription: int | None = None,
        since: datetime | None = None,
        status: str | None = None,
    ) -> int:
        """Send deliveries again from their first try, those that all given conditions name; answers how many."""
        noted = await take_keys(self._ids, len(audit))
        again = update(webhook_deliveries).values(status="pending", attempts=0, next_attempt_at=now)
        if keys is not None:
            again = again.where(webhook_deliveries.c.id.in_(list(keys)))
        if subscription is not None:
            again = again.where(webhook_deliveries.c.subscription_id == subscription)
        if since is not None:
            again = again.where(webhook_deliveries.c.created_at >= since)
        if status is not None:
            again = again.where(webhook_deliveries.c.status == status)
        async with self._database.write() as connection:
            done = await connection.execute(again)
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return int(done.rowcount)


def _cursor_name(feed: str) -> str:
    return f"webhooks_cursor.{feed}"


def _deliveries() -> Select[Any]:
    kept = (name for name in DeliveryView.__struct_fields__ if name in webhook_deliveries.c)
    who = func.coalesce(webhook_subscriptions.c.name, "").label("subscription")
    return select(*(webhook_deliveries.c[name] for name in kept), who).outerjoin(
        webhook_subscriptions, webhook_subscriptions.c.id == webhook_deliveries.c.subscription_id
    )


def _delivery_row(key: int, subscription: int, notice: Notice, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "subscription_id": subscription,
        "notice_key": notice.key,
        "kind": notice.kind,
        "body": _encode(notice),
        "next_attempt_at": now,
        "created_at": now,
    }


def _record_row(sent: DeliveryAttempt, now: datetime) -> dict[str, Any]:
    attempts = sent.delivery.attempts + 1
    is_test = sent.delivery.notice_key.startswith("test-")
    later = None if sent.is_accepted or is_test else next_attempt(attempts, now)
    error = storable(sent.error, LONGEST_ERROR)
    this = {"at": now.isoformat(), "code": sent.code, "error": error}
    return {
        "b_id": sent.delivery.id,
        "b_status": "delivered" if sent.is_accepted else "pending" if later is not None else "failed",
        "b_attempts": attempts,
        "b_next_attempt_at": later,
        "b_last_code": sent.code or None,
        "b_last_error": error or None,
        "b_delivered_at": now if sent.is_accepted else None,
        "b_tries": [*sent.delivery.tries, this][-KEPT_TRIES:],
    }
