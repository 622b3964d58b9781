"""API tokens, by the SHA-256 of what was shown once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import insert, select, update

from tidemill.core.access.lifetimes import TOUCH_EVERY, is_token_valid
from tidemill.core.access.roles import TokenScope
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import TokenView
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import api_tokens
from tidemill.store.upkeep.audit import take_keys, write_audit


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a token that is made."""

    token_hash: str
    prefix: str
    name: str
    scope: TokenScope
    verticals: Sequence[str] | None
    created_by: str
    expires_at: datetime | None


class TokenRepository:
    """Reads and writes tokens; changes are audited in the same transaction."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def add(self, token: NewToken, now: datetime, audit: AuditEntry) -> int:
        """Keep a new token and return its key."""
        key, noted = await take_keys(self._ids, 2)
        row = msgspec.structs.asdict(token) | {"id": key, "created_at": now, "scope": token.scope.value}
        row["verticals"] = None if token.verticals is None else list(token.verticals)
        async with self._database.write() as connection:
            await connection.execute(insert(api_tokens), row)
            await write_audit(connection, [(noted, audit)], now)
        return key

    async def every(self) -> list[TokenView]:
        """Return all tokens, the newest first, revoked and expired ones too."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(api_tokens).order_by(api_tokens.c.id.desc()))).all()
        return [_view(row) for row in rows]

    async def find(self, key: int) -> TokenView | None:
        """Return a token by key."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(api_tokens).where(api_tokens.c.id == key))).one_or_none()
        return None if row is None else _view(row)

    async def valid(self, token_hash: str, now: datetime) -> TokenView | None:
        """Return the token with this hash if it may be used, and note that it was."""
        async with self._database.read() as connection:
            row = (
                await connection.execute(select(api_tokens).where(api_tokens.c.token_hash == token_hash))
            ).one_or_none()
        if row is None or not is_token_valid(row.expires_at, row.revoked_at, now):
            return None
        if row.last_used_at is None or now - row.last_used_at >= TOUCH_EVERY:
            async with self._database.write() as connection:
                await connection.execute(update(api_tokens).where(api_tokens.c.id == row.id).values(last_used_at=now))
        return _view(row)

    async def revoke(self, key: int, now: datetime, audit: AuditEntry) -> None:
        """Revoke a token at once; one that is revoked already keeps its moment."""
        (noted,) = await take_keys(self._ids, 1)
        revoking = update(api_tokens).where(api_tokens.c.id == key, api_tokens.c.revoked_at.is_(None))
        async with self._database.write() as connection:
            if (await connection.execute(revoking.values(revoked_at=now))).rowcount:
                await write_audit(connection, [(noted, audit)], now)


def _view(row: Any) -> TokenView:
    return TokenView(
        id=row.id, name=row.name, prefix=row.prefix, scope=TokenScope(row.scope), verticals=row.verticals,
        created_by=row.created_by, created_at=row.created_at, expires_at=row.expires_at,
        last_used_at=row.last_used_at, revoked_at=row.revoked_at,
    )  # fmt: skip
