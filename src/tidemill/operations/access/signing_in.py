"""Signing in and out: passwords checked, wrong tries counted, sessions begun, recognised and ended."""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from tidemill.core.access.lifetimes import TOUCH_EVERY
from tidemill.core.access.lockout import FailedTries, locked_until
from tidemill.core.access.roles import Caller, CallerKind
from tidemill.core.access.secrets_shown import hashed
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import SessionView
from tidemill.operations.access.passwords import Passwords
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.store.access.people import PeopleRepository
from tidemill.store.access.sessions import NewSession, OpenSession, SessionRepository

WRONG = "That name and password do not go together."
LONGEST_AGENT = 200


class SignInRefused(Exception):
    """Signing in did not work; `retry_after` is in seconds when name or address is locked."""

    def __init__(self, message: str, retry_after: int | None = None) -> None:
        """The message is the same whether the name exists or not."""
        super().__init__(message)
        self.retry_after = retry_after


class SignedIn(msgspec.Struct, frozen=True):
    """A session that has begun: what the cookie holds, and who it belongs to."""

    secret: str
    person: str


class SignInActions:
    """Begins, recognises and ends sessions."""

    def __init__(
        self,
        people: PeopleRepository,
        sessions: SessionRepository,
        passwords: Passwords,
        clock: Clock,
        new_secret: Callable[[], str],
    ) -> None:
        """`new_secret` makes an unguessable text of 32 random bytes."""
        self._people = people
        self._sessions = sessions
        self._passwords = passwords
        self._clock = clock
        self._new_secret = new_secret

    async def sign_in(self, name: str, password: str, address: str, agent: str = "") -> SignedIn:
        """Check name and password and begin a session with a new id; raise `SignInRefused` otherwise."""
        now = self._clock.now()
        subjects = [f"name:{name}", f"address:{address}"]
        await self._refuse_if_locked(subjects, now)
        person = await self._people.find(name)
        stored = person.password_hash if person is not None and not person.is_disabled else None
        if not await self._passwords.verify(stored, password) or person is None:
            await self._sessions.add_wrong_try(subjects, now)
            raise SignInRefused(WRONG)
        return await self.begin(person.id, name, address, agent, forget=subjects)

    async def begin(
        self, person_id: int, name: str, address: str, agent: str, *, forget: Sequence[str] = ()
    ) -> SignedIn:
        """Begin a session for somebody whose right to it was shown."""
        secret = self._new_secret()
        session = NewSession(
            id_hash=hashed(secret), person_id=person_id, csrf=self._new_secret(), address=address,
            agent=agent[:LONGEST_AGENT],
        )  # fmt: skip
        note = AuditEntry(name, "session.begin", f"person {name}", {"address": address})
        await self._sessions.begin(session, forget, self._clock.now(), note)
        return SignedIn(secret, name)

    async def begin_by_name(self, name: str, address: str, agent: str = "") -> SignedIn:
        """Begin a session for a person who has just chosen a password by a link."""
        person = await self._people.find(name)
        if person is None or person.is_disabled:
            raise SignInRefused(WRONG)
        return await self.begin(person.id, name, address, agent)

    async def recognise(self, secret: str) -> Caller | None:
        """Return who a session's cookie belongs to; None when it does not hold."""
        now = self._clock.now()
        found = await self._sessions.find(hashed(secret), now)
        if found is None:
            return None
        if now - found.last_used_at >= TOUCH_EVERY:
            await self._sessions.touch(found.id_hash, now)
        return _caller(found)

    async def sessions(self, name: str) -> list[SessionView]:
        """Return the sessions of a person that hold."""
        person = await self._people.find(name)
        return [] if person is None else await self._sessions.every(person.id, self._clock.now())

    async def end(self, name: str, session: str | None, actor: str) -> int:
        """End a session of a person by its shown id, or all of them; return how many ended."""
        person = await self._people.find(name)
        if person is None:
            msg = f"there is no person called {name!r}"
            raise NotFound(msg)
        if session is not None and not session.isalnum():
            msg = "a session is named by the id that the list of sessions shows"
            raise Mistake(msg)
        note = AuditEntry(actor, "session.end", f"person {name}", {"session": session or "all"})
        return await self._sessions.end(person.id, session, self._clock.now(), note)

    async def _refuse_if_locked(self, subjects: Sequence[str], now: datetime) -> None:
        tries = await self._sessions.tries(subjects)
        until = [locked_until(tries.get(each, FailedTries()), now) for each in subjects]
        ends = max((each for each in until if each is not None), default=None)
        if ends is not None:
            seconds = max(1, round((ends - now).total_seconds()))
            msg = f"Too many wrong tries; try again in {-(-seconds // 60)} min."
            raise SignInRefused(msg, seconds)


def _caller(found: OpenSession) -> Caller:
    return Caller(
        name=found.person, kind=CallerKind.PERSON, role=found.role, key=f"person {found.person_id}",
        session=found.id_hash, csrf=found.csrf,
    )  # fmt: skip
