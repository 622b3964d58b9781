"""Answers kept by Idempotency-Key for a day, so that a request sent twice acts once."""

from datetime import datetime, timedelta

import msgspec
from sqlalchemy import delete, insert, select, update

from tidemill.store.database.database import Database
from tidemill.store.schema import idempotency_keys

KEPT = timedelta(hours=24)


class KeptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the first request with a key was, and its answer; no status while it is under way."""

    request_hash: str
    status: int | None
    content_type: str
    body: str


class IdempotencyRepository:
    """Claims keys and keeps the answers."""

    def __init__(self, database: Database) -> None:
        """Keep them in the one database, for all processes."""
        self._database = database

    async def claim(self, key_hash: str, request_hash: str, now: datetime) -> KeptAnswer | None:
        """Claim a key for a request; return what is kept if another request has it already."""
        row = {"key_hash": key_hash, "request_hash": request_hash, "created_at": now}
        there = select(idempotency_keys).where(idempotency_keys.c.key_hash == key_hash)
        async with self._database.write() as connection:
            await connection.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < now - KEPT))
            kept = (await connection.execute(there.with_for_update())).one_or_none()
            if kept is None:
                await connection.execute(insert(idempotency_keys), row)
                return None
        return KeptAnswer(
            request_hash=kept.request_hash, status=kept.status, content_type=kept.content_type, body=kept.body
        )

    async def keep(self, key_hash: str, status: int, content_type: str, body: str) -> None:
        """Keep the answer to the request that claimed a key."""
        values = {"status": status, "content_type": content_type, "body": body}
        async with self._database.write() as connection:
            await connection.execute(
                update(idempotency_keys).where(idempotency_keys.c.key_hash == key_hash).values(**values)
            )

    async def release(self, key_hash: str) -> None:
        """Give a key back whose request came to nothing, so that it can be sent again."""
        async with self._database.write() as connection:
            await connection.execute(delete(idempotency_keys).where(idempotency_keys.c.key_hash == key_hash))
