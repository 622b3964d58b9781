"""What a person can do with API tokens: make one, list them, revoke one."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.access.lifetimes import LONGEST_TOKEN
from tidemill.core.access.roles import Caller, CallerKind, TokenScope
from tidemill.core.access.secrets_shown import TOKEN_MARK, hashed, name_problem, visible_prefix
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import TokenView
from tidemill.operations.mistakes import Mistake, require_found, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.store.access.tokens import NewToken, TokenRepository


class MadeToken(msgspec.Struct, frozen=True):
    """A token that was just made; `secret` is shown this once and never again."""

    secret: str
    token: TokenView


class TokenActions:
    """Makes and revokes tokens; every action is audited."""

    def __init__(
        self, tokens: TokenRepository, clock: Clock, new_secret: Callable[[], str], verticals: Collection[str]
    ) -> None:
        """`verticals` are the kinds of data that a token may be bound to."""
        self._tokens = tokens
        self._clock = clock
        self._new_secret = new_secret
        self._verticals = verticals

    async def every(self) -> list[TokenView]:
        """Return all tokens, the newest first."""
        return await self._tokens.every()

    async def make(
        self,
        name: str,
        scope: TokenScope,
        actor: str,
        *,
        days: int | None = None,
        verticals: Sequence[str] | None = None,
    ) -> MadeToken:
        """Make a token that ends after `days`, or never, and is bound to these verticals, or none."""
        if problem := name_problem(name):
            raise Mistake(problem)
        for each in verticals or ():
            if each not in self._verticals:
                raise Mistake(unknown_name("vertical", each, self._verticals))
        secret = TOKEN_MARK + self._new_secret()
        new = NewToken(
            token_hash=hashed(secret), prefix=visible_prefix(secret), name=name, scope=scope,
            verticals=verticals or None, created_by=actor, expires_at=self._end(days),
        )  # fmt: skip
        detail = {"scope": scope.value, "days": days, "verticals": verticals, "prefix": new.prefix}
        key = await self._tokens.add(new, self._clock.now(), AuditEntry(actor, "token.make", f"token {name}", detail))
        return MadeToken(secret, require_found(await self._tokens.find(key), "token", key))

    async def revoke(self, key: int, actor: str) -> TokenView:
        """Revoke a token at once."""
        token = require_found(await self._tokens.find(key), "token", key)
        note = AuditEntry(actor, "token.revoke", f"token {token.name}", {"prefix": token.prefix})
        await self._tokens.revoke(key, self._clock.now(), note)
        return require_found(await self._tokens.find(key), "token", key)

    async def recognise(self, secret: str) -> Caller | None:
        """Return who a token stands for; None when it may not be used."""
        if not secret.startswith(TOKEN_MARK):
            return None
        found = await self._tokens.valid(hashed(secret), self._clock.now())
        if found is None:
            return None
        return Caller(
            name=f"token {found.name}", kind=CallerKind.TOKEN, role=found.scope.role, key=f"token {found.id}",
            verticals=None if found.verticals is None else frozenset(found.verticals),
        )  # fmt: skip

    def _end(self, days: int | None) -> datetime | None:
        if days is None:
            return None
        if not 1 <= days <= LONGEST_TOKEN.days:
            msg = f"a token holds for 1 to {LONGEST_TOKEN.days} days, or without an end"
            raise Mistake(msg)
        return self._clock.now() + timedelta(days=days)
