"""The outbox: messages written with what caused them, and claimed one at a time in each channel's order."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.alerts.outgoing import SENDING_FOR, ClaimedNotices, OutgoingNotice
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import alert_outbox

LONGEST_ERROR = 300
MOST_IN_A_DIGEST = 40

_PENDING = text("alert_outbox.status = 'pending'")
_HEAD = (
    select(alert_outbox)
    .where(_PENDING, alert_outbox.c.channel == bindparam("b_channel"))
    .where(alert_outbox.c.send_after <= bindparam("b_now"), ~alert_outbox.c.is_digest)
    .order_by(alert_outbox.c.id)
    .limit(1)
    .with_for_update()
)
_DIGEST = (
    select(alert_outbox)
    .where(_PENDING, alert_outbox.c.channel == bindparam("b_channel"))
    .where(alert_outbox.c.send_after <= bindparam("b_now"), alert_outbox.c.is_digest)
    .order_by(alert_outbox.c.id)
    .limit(MOST_IN_A_DIGEST)
    .with_for_update()
)
_MINE = alert_outbox.c.id.in_(bindparam("b_ids", expanding=True))
_CLAIM = update(alert_outbox).where(_MINE).values(
    sending_since=bindparam("b_now"), attempts=alert_outbox.c.attempts + 1
)  # fmt: skip
_SENT = update(alert_outbox).where(_MINE).values(
    status="sent", sent_at=bindparam("b_now"), sending_since=None, last_error=""
)  # fmt: skip
_LATER = update(alert_outbox).where(_MINE).values(
    sending_since=bindparam("b_since"), next_try_at=bindparam("b_next"), last_error=bindparam("b_error")
)  # fmt: skip
_REFUSED = update(alert_outbox).where(_MINE).values(
    status="refused", sending_since=None, last_error=bindparam("b_error")
)  # fmt: skip
_INSERT = {
    kind.dialect.name: kind.insert(alert_outbox).on_conflict_do_nothing(index_elements=["channel", "key"])
    for kind in (sqlite, postgresql)
}


class OutboxLine(msgspec.Struct, frozen=True, kw_only=True):
    """A message in the outbox, as people are shown it."""

    id: int
    channel: str
    kind: str
    severity: str
    title: str
    status: str
    attempts: int
    send_after: datetime
    sent_at: datetime | None
    last_error: str
    created_at: datetime


async def write_outgoing(
    connection: AsyncConnection, ids: Ids, notices: Sequence[OutgoingNotice], now: datetime
) -> None:
    """Write messages in the transaction of what caused them; one whose key is known is written once."""
    rows = [
        {
            "id": ids.take(),
            "channel": each.channel,
            "key": each.notice.key,
            "kind": each.notice.kind,
            "severity": each.notice.severity,
            "notice": msgspec.to_builtins(each.notice),
            "is_digest": each.is_digest,
            "send_after": each.send_after,
            "created_at": now,
        }
        for each in notices
    ]
    if rows:
        await connection.execute(_INSERT[connection.dialect.name], rows)


class AlertOutbox:
    """Messages by channel, in order."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on this database."""
        self._database = database
        self._ids = ids

    async def add(self, notices: Sequence[OutgoingNotice], now: datetime) -> None:
        """Write messages that nothing in the database causes, such as a test."""
        await self._ids.reserve(len(notices))
        async with self._database.write() as connection:
            await write_outgoing(connection, self._ids, notices, now)

    async def claim(self, channel: str, now: datetime) -> ClaimedNotices | None:
        """Take the oldest message that may be sent; None if there is none, or another process is sending it.

        The oldest is sent first and holds the others up while it fails: they arrive in order.
        """
        async with self._database.write() as connection:
            for query in (_HEAD, _DIGEST):
                rows = (await connection.execute(query, {"b_channel": channel, "b_now": now})).mappings().all()
                if any(_is_held(row, now) for row in rows):
                    return None
                if rows:
                    await connection.execute(_CLAIM, {"b_ids": [row["id"] for row in rows], "b_now": now})
                    return _claimed(rows)
        return None

    async def has_work(self, now: datetime) -> list[str]:
        """Return the channels with messages that may be sent now."""
        query = (
            select(alert_outbox.c.channel)
            .where(_PENDING, alert_outbox.c.send_after <= now)
            .group_by(alert_outbox.c.channel)
            .order_by(func.min(alert_outbox.c.id))
        )
        async with self._database.glance() as connection:
            return list((await connection.execute(query)).scalars())

    async def sent(self, claimed: ClaimedNotices, now: datetime) -> None:
        """Mark messages as sent."""
        await self._write(_SENT, {"b_ids": list(claimed.ids), "b_now": now})

    async def put_back(
        self, claimed: ClaimedNotices, error: str, next_try_at: datetime, *, may_have_come: bool
    ) -> None:
        """Leave messages to be sent again, not before a moment; those behind them wait as well.

        One that may have come is left as if its sender had died long ago: whoever claims it is told.
        """
        error = storable(error, LONGEST_ERROR)
        since = next_try_at - SENDING_FOR if may_have_come or claimed.may_have_come else None
        values = {"b_ids": list(claimed.ids), "b_error": error, "b_next": next_try_at, "b_since": since}
        await self._write(_LATER, values)

    async def refused(self, claimed: ClaimedNotices, error: str) -> None:
        """Give messages up that the channel will never take."""
        await self._write(_REFUSED, {"b_ids": list(claimed.ids), "b_error": storable(error, LONGEST_ERROR)})

    async def latest(self, limit: int = 50, channel: str | None = None) -> list[OutboxLine]:
        """Return the newest messages."""
        query = select(alert_outbox).order_by(alert_outbox.c.id.desc()).limit(limit)
        if channel is not None:
            query = query.where(alert_outbox.c.channel == channel)
        async with self._database.read() as connection:
            return [_line(row) for row in (await connection.execute(query)).mappings()]

    async def waiting_since(self, now: datetime, longer_than: timedelta) -> dict[str, datetime]:
        """Return the channels with a message that should have gone out so long ago, and since when it waits."""
        query = (
            select(alert_outbox.c.channel, func.min(alert_outbox.c.send_after))
            .where(_PENDING, alert_outbox.c.send_after < now - longer_than)
            .where(or_(alert_outbox.c.attempts > 0, ~alert_outbox.c.is_digest))
            .group_by(alert_outbox.c.channel)
        )
        async with self._database.glance() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def _write(self, statement: Any, values: dict[str, Any]) -> None:
        async with self._database.write() as connection:
            await connection.execute(statement, values)


def _is_held(row: Any, now: datetime) -> bool:
    """Return whether a message is being sent by another process, or waits for its next try."""
    is_being_sent = row["sending_since"] is not None and now - row["sending_since"] < SENDING_FOR
    return is_being_sent or (row["next_try_at"] is not None and row["next_try_at"] > now)


def _claimed(rows: Sequence[Any]) -> ClaimedNotices:
    return ClaimedNotices(
        ids=tuple(row["id"] for row in rows),
        notices=tuple(msgspec.convert(row["notice"], AlertNotice) for row in rows),
        attempts=max(row["attempts"] for row in rows) + 1,
        is_digest=bool(rows[0]["is_digest"]),
        may_have_come=any(row["sending_since"] is not None for row in rows),
    )


def _line(row: Any) -> OutboxLine:
    own = {name: row[name] for name in OutboxLine.__struct_fields__ if name != "title"}
    return OutboxLine(**own, title=row["notice"]["title"])
