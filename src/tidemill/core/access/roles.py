"""Roles of people and scopes of tokens, and whether a caller has what a route needs."""

from collections.abc import Collection
from enum import StrEnum

import msgspec


class Role(StrEnum):
    """What a person may do: a viewer reads, an operator acts on the work, an admin also decides about people."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Return whether whoever has this role may do all that `other` may."""
        return _RANK[self] >= _RANK[other]


_RANK = {Role.VIEWER: 0, Role.OPERATOR: 1, Role.ADMIN: 2}


class TokenScope(StrEnum):
    """What a token may be used for."""

    READ = "read"
    ACT = "act"
    ADMIN = "admin"

    @property
    def role(self) -> Role:
        """The role that a caller with such a token has."""
        return _ROLE_OF[self]


_ROLE_OF = {TokenScope.READ: Role.VIEWER, TokenScope.ACT: Role.OPERATOR, TokenScope.ADMIN: Role.ADMIN}


class CallerKind(StrEnum):
    """How a caller showed who they are."""

    PERSON = "person"
    TOKEN = "token"  # noqa: S105 - the word, not a secret
    LOCAL = "local"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who sends a request: a signed-in person, a token, or a program on this machine.

    `name` goes into the audit log. `key` tells callers apart for rate limits. `verticals` bounds a token to some kinds
    of data; None means all. `session` is the hash of a person's session, and `csrf` what its forms must carry.
    """

    name: str
    kind: CallerKind
    role: Role
    key: str
    verticals: Collection[str] | None = None
    session: str = ""
    csrf: str = ""

    def may_use(self, vertical: str) -> bool:
        """Return whether the caller may touch this kind of data."""
        return self.verticals is None or vertical in self.verticals
