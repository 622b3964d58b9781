"""People who can sign in, and the one-time links by which they choose a password."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import delete, func, insert, select, update

from tidemill.core.access.lifetimes import is_link_open
from tidemill.core.access.roles import Role
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import PersonView
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import one_time_links, people, sessions
from tidemill.store.upkeep.audit import take_keys, write_audit

_LAST_SEEN = (
    select(func.max(sessions.c.last_used_at)).where(sessions.c.person_id == people.c.id).scalar_subquery().label("seen")
)


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A person as rules need them; `password_hash` is None until one was chosen."""

    id: int
    name: str
    role: Role
    password_hash: str | None
    is_disabled: bool


class PeopleRepository:
    """Reads and writes people and their one-time links; changes are audited in the same transaction."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def count(self) -> int:
        """Return how many people can sign in: one who was invited and has no password yet cannot."""
        counting = select(func.count()).select_from(people).where(people.c.password_hash.is_not(None))
        async with self._database.read() as connection:
            return int((await connection.execute(counting)).scalar_one())

    async def every(self) -> list[PersonView]:
        """Return all people by name."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(people, _LAST_SEEN).order_by(people.c.name))).all()
        return [
            PersonView(
                id=row.id, name=row.name, role=Role(row.role), has_password=row.password_hash is not None,
                created_at=row.created_at, disabled_at=row.disabled_at, last_seen_at=row.seen,
            )
            for row in rows
        ]  # fmt: skip

    async def find(self, name: str) -> Person | None:
        """Return the person with this name; None if there is none."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(people).where(people.c.name == name))).one_or_none()
        return None if row is None else _person(row)

    async def add(self, name: str, role: Role, now: datetime, audit: Sequence[AuditEntry]) -> int:
        """Add a person without a password, and return their key."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        row = {"id": key, "name": name, "role": role.value, "created_at": now}
        async with self._database.write() as connection:
            await connection.execute(insert(people), row)
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return key

    async def change(
        self, person_id: int, changes: dict[str, Any], now: datetime, audit: Sequence[AuditEntry], *, sign_out: bool
    ) -> None:
        """Change columns of a person; `sign_out` ends their sessions, as a new role or password must."""
        noted = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            await connection.execute(update(people).where(people.c.id == person_id).values(**changes))
            if sign_out:
                await connection.execute(delete(sessions).where(sessions.c.person_id == person_id))
            await write_audit(connection, zip(noted, audit, strict=True), now)

    async def remove(self, person_id: int, now: datetime, audit: Sequence[AuditEntry]) -> None:
        """Remove a person with their sessions and links; what they did stays in the audit log."""
        noted = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            for table in (sessions, one_time_links):
                await connection.execute(delete(table).where(table.c.person_id == person_id))
            await connection.execute(delete(people).where(people.c.id == person_id))
            await write_audit(connection, zip(noted, audit, strict=True), now)

    async def keep_link(
        self, link_hash: str, person_id: int | None, now: datetime, audit: Sequence[AuditEntry]
    ) -> None:
        """Keep a new link; earlier ones for the same person, or for the first admin, no longer work."""
        noted = await take_keys(self._ids, len(audit))
        same = one_time_links.c.person_id.is_(None) if person_id is None else one_time_links.c.person_id == person_id
        row = {"link_hash": link_hash, "person_id": person_id, "created_at": now}
        async with self._database.write() as connection:
            await connection.execute(delete(one_time_links).where(same))
            await connection.execute(insert(one_time_links), row)
            await write_audit(connection, zip(noted, audit, strict=True), now)

    async def link(self, link_hash: str, now: datetime) -> "OpenLink | None":
        """Return what an open link is for; None for one that is unknown, used or too old."""
        query = (
            select(one_time_links, people.c.name)
            .outerjoin(people, people.c.id == one_time_links.c.person_id)
            .where(one_time_links.c.link_hash == link_hash)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None or not is_link_open(row.created_at, row.used_at, now):
            return None
        return OpenLink(row.person_id, row.name)

    async def redeem(
        self, link_hash: str, name: str, role: Role, password_hash: str, now: datetime, audit: Sequence[AuditEntry]
    ) -> bool:
        """Use a link: set its person's password, or make the first admin; False if somebody was faster."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        taking = (
            update(one_time_links)
            .where(one_time_links.c.link_hash == link_hash, one_time_links.c.used_at.is_(None))
            .values(used_at=now)
            .returning(one_time_links.c.person_id)
        )
        async with self._database.write() as connection:
            taken = (await connection.execute(taking)).one_or_none()
            if taken is None:
                return False
            if taken.person_id is None:
                row = {"id": key, "name": name, "role": role.value, "password_hash": password_hash, "created_at": now}
                await connection.execute(insert(people), row)
            else:
                changing = update(people).where(people.c.id == taken.person_id)
                await connection.execute(changing.values(password_hash=password_hash))
                await connection.execute(delete(sessions).where(sessions.c.person_id == taken.person_id))
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return True


class OpenLink(msgspec.Struct, frozen=True):
    """A link that may be followed: for whom, or for the first admin."""

    person_id: int | None
    name: str | None


def _person(row: Any) -> Person:
    return Person(
        id=row.id, name=row.name, role=Role(row.role), password_hash=row.password_hash,
        is_disabled=row.disabled_at is not None,
    )  # fmt: skip
