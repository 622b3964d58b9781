"""People, sessions and tokens as they are shown."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.core.access.roles import Role, TokenScope


class PersonView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who can sign in; `has_password` is false until their first link was followed."""

    id: int
    name: str
    role: Role
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None = None
    last_seen_at: datetime | None = None


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session of a person; `id` is the beginning of its hash, enough to end it and useless to steal it."""

    id: str
    person: str
    created_at: datetime
    last_used_at: datetime
    address: str
    agent: str


class TokenView(msgspec.Struct, frozen=True, kw_only=True):
    """An API token without its secret; `prefix` is how its owner recognises it."""

    id: int
    name: str
    prefix: str
    scope: TokenScope
    verticals: Sequence[str] | None
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
