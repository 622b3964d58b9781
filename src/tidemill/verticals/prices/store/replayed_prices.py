"""What a replay corrects among prices: an overlay on the prices that its pages brought, never the prices themselves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.keys import Ids
from tidemill.store.records.corrections import RecordCorrection
from tidemill.verticals.prices.store.tables import price_corrections, prices, source_products
from tidemill.verticals.prices.store.visibility import CORRECT, IGNORE, REVOKE

_AMOUNT = ("price_cents", "currency")


class PriceReplays:
    """Lays what a replay read over the prices that were read wrongly."""

    def __init__(self, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._ids = ids

    async def correct(
        self,
        connection: AsyncConnection,
        replay_id: int,
        corrections: Sequence[RecordCorrection],
        by: str,
        now: datetime,
    ) -> Mapping[str, int]:
        """Correct or ignore prices; a price that was overlooked then is not made up now."""
        done: Counter[str] = Counter()
        for one in corrections:
            said = _said(one)
            keys = await _prices_of(connection, one) if said else []
            fresh = [key for key in keys if not await _is_said(connection, key, replay_id)]
            if not said or not fresh:
                done["left alone"] += 1
                continue
            what = {**said, "reason": reason_of(replay_id), "made_by": by, "made_at": now}
            rows = [{"id": self._ids.take(), "price_id": key, **what} for key in fresh]
            await connection.execute(price_corrections.insert(), rows)
            done["corrected" if said["kind"] == CORRECT else "removed"] += len(rows)
        return done

    async def revert(self, connection: AsyncConnection, replay_id: int, by: str, now: datetime) -> int:
        """Revoke a replay's corrections, where nobody has said anything else since."""
        newest = select(func.max(price_corrections.c.id)).group_by(price_corrections.c.price_id)
        held = select(price_corrections.c.price_id).where(
            price_corrections.c.id.in_(newest),
            price_corrections.c.reason == reason_of(replay_id),
            price_corrections.c.kind != REVOKE,
        )
        keys = list((await connection.execute(held.order_by(price_corrections.c.price_id))).scalars())
        what: dict[str, Any] = {"kind": REVOKE, "price_cents": None, "currency": None}
        what |= {"reason": f"{reason_of(replay_id)} was reverted", "made_by": by, "made_at": now}
        if keys:
            rows = [{"id": self._ids.take(), "price_id": key, **what} for key in keys]
            await connection.execute(price_corrections.insert(), rows)
        return len(keys)


def reason_of(replay_id: int) -> str:
    """Return the reason that a replay's corrections carry."""
    return f"replay {replay_id}"


def _said(one: RecordCorrection) -> dict[str, Any]:
    """Return what is to be said about the prices of a page; nothing if its amount was right, or not read."""
    if one.before is None:
        return {}
    if one.after is None:
        return {"kind": IGNORE, "price_cents": None, "currency": None}
    if not set(_AMOUNT) & set(one.names):
        return {}
    return {"kind": CORRECT, **{name: one.after.get(name) for name in _AMOUNT}}


async def _prices_of(connection: AsyncConnection, one: RecordCorrection) -> list[int]:
    before: Mapping[str, Any] = one.before or {}
    query = (
        select(prices.c.id)
        .join(source_products, source_products.c.id == prices.c.source_product_id)
        .where(
            source_products.c.source_id == one.source_id,
            source_products.c.identity_key == one.identity,
            prices.c.page_id == one.page_id,
            *(prices.c[name] == before.get(name) for name in _AMOUNT),
        )
        .order_by(prices.c.id)
    )
    return list((await connection.execute(query)).scalars())


async def _is_said(connection: AsyncConnection, price_id: int, replay_id: int) -> bool:
    mine = and_(price_corrections.c.price_id == price_id, price_corrections.c.reason == reason_of(replay_id))
    return (await connection.execute(select(price_corrections.c.id).where(mine).limit(1))).first() is not None
