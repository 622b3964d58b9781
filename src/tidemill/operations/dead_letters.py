"""What a person can do with dead letters: show, retry and discard, singly and in bulk."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.views import DeadLetterDetail, DeadLetterFilter, DeadLetterView
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.dispatch import OpenedRun
from tidemill.pipeline.ports import Clock
from tidemill.store.ledger.retries import DeadLetterRetries
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views

BATCH_SIZE = 500
"""Dead letters in one transaction: enough to be quick, few enough not to block others."""


class HandledDeadLetters(msgspec.Struct, frozen=True, kw_only=True, rename={"count": "letters"}):
    """The result of an action: how many dead letters it changed, and those skipped because their source is gone."""

    count: int
    orphans: Sequence[int] = ()


class DeadLetterActions:
    """Retries and discards dead letters; every action is audited."""

    def __init__(
        self,
        retries: DeadLetterRetries,
        views: Views,
        audit: AuditLog,
        clock: Clock,
        wake: Callable[[int], None],
        opened: Callable[[Sequence[OpenedRun]], None],
    ) -> None:
        """`wake` tells workers that there is work; `opened` announces the new runs."""
        self._opened = opened
        self._retries = retries
        self._views = views
        self._audit = audit
        self._clock = clock
        self._wake = wake

    async def find(self, dead_letter_id: int) -> DeadLetterDetail:
        """Return a dead letter in full; raise `NotFound` if there is none."""
        found = await self._views.dead_letter(dead_letter_id)
        if found is None:
            msg = f"there is no dead letter {dead_letter_id}; see `tidemill dlq list`"
            raise NotFound(msg)
        return found

    async def retry(self, dead_letter_id: int, actor: str) -> HandledDeadLetters:
        """Retry one now, at the stage where its job failed."""
        found = (await self.find(dead_letter_id)).letter
        refuse_unless_pending(found)
        if not found.source_name:
            msg = f"the source of dead letter {dead_letter_id} was removed; discard it"
            raise Mistake(msg)
        return await self._retry([dead_letter_id], f"dead letter {dead_letter_id}", actor)

    async def retry_all(self, which: DeadLetterFilter, actor: str) -> HandledDeadLetters:
        """Retry every pending one that matches the filter."""
        pending = await self._pending(which)
        orphans = [each.id for each in pending if not each.source_name]
        done = await self._retry([each.id for each in pending if each.source_name], described(which), actor)
        return msgspec.structs.replace(done, orphans=orphans)

    async def discard(self, dead_letter_id: int, actor: str, notes: str = "") -> HandledDeadLetters:
        """Discard one; its notes say why."""
        refuse_unless_pending((await self.find(dead_letter_id)).letter)
        return await self._discard([dead_letter_id], f"dead letter {dead_letter_id}", actor, notes)

    async def discard_all(self, which: DeadLetterFilter, actor: str, notes: str = "") -> HandledDeadLetters:
        """Discard every pending one that matches the filter."""
        keys = [each.id for each in await self._pending(which)]
        return await self._discard(keys, described(which), actor, notes)

    async def _pending(self, which: DeadLetterFilter) -> list[DeadLetterView]:
        pending = msgspec.structs.replace(which, status=DeadLetterStatus.PENDING.value)
        found: list[DeadLetterView] = []
        while page := await self._views.dead_letters(pending, before=found[-1].id if found else None, limit=BATCH_SIZE):
            found += page
        return found

    async def _retry(self, keys: Sequence[int], subject: str, actor: str) -> HandledDeadLetters:
        count = 0
        for some in chunks(keys):
            opened = await self._retries.retry(some, self._clock.now())
            self._opened(opened)
            count += sum(run.jobs for run in opened)
        self._wake(count)
        await self._note("dlq.retry", subject, actor, {"letters": count})
        return HandledDeadLetters(count=count)

    async def _discard(self, keys: Sequence[int], subject: str, actor: str, notes: str) -> HandledDeadLetters:
        words = f"discarded by {actor}" + (f": {notes}" if notes else "")
        count = 0
        for some in chunks(keys):
            count += await self._retries.discard(some, words, self._clock.now())
        await self._note("dlq.discard", subject, actor, {"letters": count, "notes": notes})
        return HandledDeadLetters(count=count)

    async def _note(self, action: str, subject: str, actor: str, detail: dict[str, object]) -> None:
        await self._audit.note([AuditEntry(actor, action, subject, detail)], self._clock.now())


def chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """Return the keys in batches."""
    return (keys[start : start + BATCH_SIZE] for start in range(0, len(keys), BATCH_SIZE))


def refuse_unless_pending(dead_letter: DeadLetterView) -> None:
    """Raise `Mistake` unless a dead letter is pending; the message says what to do instead."""
    match dead_letter.status:
        case DeadLetterStatus.RETRYING:
            msg = f"dead letter {dead_letter.id} is being retried; wait for how that goes"
        case DeadLetterStatus.RESOLVED:
            msg = f"dead letter {dead_letter.id} is resolved: a retry went well"
        case DeadLetterStatus.DISCARDED:
            again = f"`tidemill targets run {dead_letter.target_id}`"
            msg = f"dead letter {dead_letter.id} was discarded; start a new job for its target: {again}"
        case _:
            return
    raise Mistake(msg)


def described(which: DeadLetterFilter) -> str:
    """Return the filter in words, for the audit log."""
    parts = [f"{name} {value}" for name in which.__struct_fields__ if (value := getattr(which, name)) is not None]
    return "dead letters with " + ", ".join(parts) if parts else "all dead letters"
