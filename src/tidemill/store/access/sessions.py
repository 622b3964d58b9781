"""Sessions of people who signed in, and wrong passwords in a row."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from sqlalchemy import delete, insert, or_, select, update

from tidemill.core.access.lifetimes import IDLE, LONGEST_SESSION, is_session_open
from tidemill.core.access.lockout import FailedTries, after_wrong_try
from tidemill.core.access.roles import Role
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import SessionView
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import login_failures, people, sessions
from tidemill.store.upkeep.audit import take_keys, write_audit

SHOWN_HASH = 12
"""So much of a session's hash names it to its owner."""


class OpenSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that holds, and whose it is."""

    id_hash: str
    person_id: int
    person: str
    role: Role
    csrf: str
    last_used_at: datetime


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a session that begins."""

    id_hash: str
    person_id: int
    csrf: str
    address: str
    agent: str


class SessionRepository:
    """Reads and writes sessions and wrong tries."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def begin(self, session: NewSession, forget: Sequence[str], now: datetime, audit: AuditEntry) -> None:
        """Keep a new session, forget wrong tries of these subjects, and drop sessions that ended by time."""
        (noted,) = await take_keys(self._ids, 1)
        row = msgspec.structs.asdict(session) | {"created_at": now, "last_used_at": now}
        over = or_(sessions.c.last_used_at < now - IDLE, sessions.c.created_at < now - LONGEST_SESSION)
        async with self._database.write() as connection:
            await connection.execute(delete(sessions).where(over))
            await connection.execute(delete(login_failures).where(login_failures.c.subject.in_(forget)))
            await connection.execute(insert(sessions), row)
            await write_audit(connection, [(noted, audit)], now)

    async def find(self, id_hash: str, now: datetime) -> OpenSession | None:
        """Return the session with this hash if it holds and its person may sign in."""
        query = (
            select(sessions, people.c.name, people.c.role)
            .join(people, people.c.id == sessions.c.person_id)
            .where(sessions.c.id_hash == id_hash, people.c.disabled_at.is_(None))
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None or not is_session_open(row.created_at, row.last_used_at, now):
            return None
        return OpenSession(
            id_hash=id_hash, person_id=row.person_id, person=row.name, role=Role(row.role), csrf=row.csrf,
            last_used_at=row.last_used_at,
        )  # fmt: skip

    async def touch(self, id_hash: str, now: datetime) -> None:
        """Note that a session was used."""
        async with self._database.write() as connection:
            await connection.execute(update(sessions).where(sessions.c.id_hash == id_hash).values(last_used_at=now))

    async def every(self, person_id: int, now: datetime) -> list[SessionView]:
        """Return a person's sessions that hold, the newest first."""
        query = (
            select(sessions, people.c.name)
            .join(people, people.c.id == sessions.c.person_id)
            .where(sessions.c.person_id == person_id)
            .order_by(sessions.c.created_at.desc())
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            SessionView(
                id=row.id_hash[:SHOWN_HASH], person=row.name, created_at=row.created_at,
                last_used_at=row.last_used_at, address=row.address, agent=row.agent,
            )
            for row in rows
            if is_session_open(row.created_at, row.last_used_at, now)
        ]  # fmt: skip

    async def end(self, person_id: int, shown: str | None, now: datetime, audit: AuditEntry) -> int:
        """End a person's session by the shown part of its hash, or all of them; return how many ended."""
        (noted,) = await take_keys(self._ids, 1)
        ending = delete(sessions).where(sessions.c.person_id == person_id)
        if shown is not None:
            ending = ending.where(sessions.c.id_hash.startswith(shown, autoescape=True))
        async with self._database.write() as connection:
            ended = (await connection.execute(ending)).rowcount
            if ended:
                await write_audit(connection, [(noted, audit)], now)
        return int(ended)

    async def tries(self, subjects: Sequence[str]) -> Mapping[str, FailedTries]:
        """Return the wrong tries of these names and addresses."""
        async with self._database.read() as connection:
            rows = (
                await connection.execute(select(login_failures).where(login_failures.c.subject.in_(subjects)))
            ).all()
        return {row.subject: FailedTries(row.tries, row.last_at) for row in rows}

    async def add_wrong_try(self, subjects: Sequence[str], now: datetime) -> None:
        """Count a wrong try against each of these names and addresses."""
        statement = self._database.insert(login_failures)
        fresh = {"tries": statement.excluded.tries, "last_at": statement.excluded.last_at}
        async with self._database.write() as connection:
            rows = await connection.execute(
                select(login_failures).where(login_failures.c.subject.in_(subjects)).with_for_update()
            )
            before = {row.subject: FailedTries(row.tries, row.last_at) for row in rows}
            after = {each: after_wrong_try(before.get(each, FailedTries()), now) for each in subjects}
            values = [{"subject": each, "tries": one.count, "last_at": one.last_at} for each, one in after.items()]
            await connection.execute(statement.on_conflict_do_update(index_elements=["subject"], set_=fresh), values)
