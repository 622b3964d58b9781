"""What an admin can do with people: invite, change, switch off, remove; and the one-time links for passwords."""

from collections.abc import Callable

from tidemill.core.access.roles import Role
from tidemill.core.access.secrets_shown import hashed, name_problem, password_problem
from tidemill.core.audit import AuditEntry
from tidemill.core.views.access import PersonView
from tidemill.operations.access.passwords import Passwords
from tidemill.operations.mistakes import Conflict, Mistake, NotFound, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.store.access.people import OpenLink, PeopleRepository, Person

LAST_ADMIN = "there would be no admin left; make somebody else an admin first"
CLOSED_LINK = "this link was used already or is older than 15 minutes; make a new one with `tidemill people reset`"


class PeopleActions:
    """Invites people and changes what they may do; every action is audited."""

    def __init__(
        self, people: PeopleRepository, passwords: Passwords, clock: Clock, new_secret: Callable[[], str]
    ) -> None:
        """`new_secret` makes an unguessable text of 32 random bytes."""
        self._people = people
        self._passwords = passwords
        self._clock = clock
        self._new_secret = new_secret

    async def every(self) -> list[PersonView]:
        """Return all people by name."""
        return await self._people.every()

    async def is_empty(self) -> bool:
        """Return whether nobody can sign in yet."""
        return await self._people.count() == 0

    async def first_link(self, actor: str) -> str:
        """Return the secret of a link that makes the first admin; refuse it once there are people."""
        if not await self.is_empty():
            msg = "there are people already; an admin invites others, or `tidemill people reset NAME` helps one back in"
            raise Conflict(msg)
        return await self._new_link(None, AuditEntry(actor, "people.first_link", "first admin"))

    async def invite(self, name: str, role: Role, actor: str) -> str:
        """Add a person and return the secret of the link by which they choose a password."""
        if problem := name_problem(name):
            raise Mistake(problem)
        if await self._people.find(name) is not None:
            msg = f"there is a person called {name!r} already"
            raise Conflict(msg)
        note = AuditEntry(actor, "people.invite", f"person {name}", {"role": role.value})
        key = await self._people.add(name, role, self._clock.now(), [note])
        return await self._new_link(key, AuditEntry(actor, "people.link", f"person {name}"))

    async def reset(self, name: str, actor: str) -> str:
        """Return the secret of a link by which a person chooses a new password."""
        person = await self._find(name)
        return await self._new_link(person.id, AuditEntry(actor, "people.link", f"person {name}"))

    async def change_role(self, name: str, role: Role, actor: str) -> PersonView:
        """Give a person another role; they sign in again."""
        person = await self._find(name)
        if role is not Role.ADMIN:
            await self._keep_an_admin(person)
        note = AuditEntry(actor, "people.role", f"person {name}", {"before": person.role.value, "after": role.value})
        await self._change(person, {"role": role.value}, note)
        return await self._view(name)

    async def set_disabled(self, name: str, actor: str, *, disabled: bool) -> PersonView:
        """Switch a person off, which ends their sessions, or on again."""
        person = await self._find(name)
        if disabled:
            await self._keep_an_admin(person)
        moment = self._clock.now() if disabled else None
        note = AuditEntry(actor, "people.disable" if disabled else "people.enable", f"person {name}")
        await self._change(person, {"disabled_at": moment}, note)
        return await self._view(name)

    async def remove(self, name: str, actor: str) -> PersonView:
        """Remove a person; what they did stays in the audit log."""
        person = await self._find(name)
        await self._keep_an_admin(person)
        view = await self._view(name)
        note = AuditEntry(actor, "people.remove", f"person {name}", {"role": person.role.value})
        await self._people.remove(person.id, self._clock.now(), [note])
        return view

    async def link(self, secret: str) -> OpenLink:
        """Return what a link is for; raise `Mistake` for one that cannot be followed."""
        found = await self._people.link(hashed(secret), self._clock.now())
        if found is None or (found.person_id is None and not await self.is_empty()):
            raise Mistake(CLOSED_LINK)
        return found

    async def redeem(self, secret: str, name: str, password: str) -> str:
        """Follow a link: choose a password, for the first admin also a name; return the person's name."""
        link = await self.link(secret)
        who = link.name or name
        if problem := name_problem(who) or password_problem(password, who):
            raise Mistake(problem)
        stored = await self._passwords.hash(password)
        note = AuditEntry(who, "people.password", f"person {who}", {"first_admin": link.person_id is None})
        if not await self._people.redeem(hashed(secret), who, Role.ADMIN, stored, self._clock.now(), [note]):
            raise Mistake(CLOSED_LINK)
        return who

    async def _new_link(self, person_id: int | None, note: AuditEntry) -> str:
        secret = self._new_secret()
        await self._people.keep_link(hashed(secret), person_id, self._clock.now(), [note])
        return secret

    async def _find(self, name: str) -> Person:
        found = await self._people.find(name)
        if found is None:
            raise NotFound(unknown_name("person", name, [each.name for each in await self._people.every()]))
        return found

    async def _view(self, name: str) -> PersonView:
        return next(each for each in await self._people.every() if each.name == name)

    async def _keep_an_admin(self, person: Person) -> None:
        others = [
            each
            for each in await self._people.every()
            if each.role is Role.ADMIN and each.disabled_at is None and each.id != person.id
        ]
        if person.role is Role.ADMIN and not others:
            raise Conflict(LAST_ADMIN)

    async def _change(self, person: Person, changes: dict[str, object], note: AuditEntry) -> None:
        await self._people.change(person.id, changes, self._clock.now(), [note], sign_out=True)
