"""Dead letters come back to life: the same job, from the stage where it died, in a run of its own (R2)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.dead_letter import LetterStatus
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Stage
from tidemill.core.run import Trigger
from tidemill.store.claims import mark_work
from tidemill.store.database import Database
from tidemill.store.ids import Ids
from tidemill.store.schema import breakers, dead_letters, jobs, runs, sources

AT_ONCE = 200


class Letters:
    """What can be done with dead letters; a person and the retry tick use the same."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on one database."""
        self._database = database
        self._ids = ids

    async def due(self, now: datetime) -> list[int]:
        """Letters whose time for another try has come; those of a source whose breaker is open wait for it."""
        pending = text("dead_letter_queue.status = 'pending'")
        barred = exists().where(
            breakers.c.source_id == dead_letters.c.source_id,
            breakers.c.state == "OPEN",
            breakers.c.cooldown_until > now,
        )
        query = select(dead_letters.c.id).where(pending, dead_letters.c.next_retry_at <= now, ~barred)
        async with self._database.glance() as connection:
            return list(
                (await connection.execute(query.order_by(dead_letters.c.next_retry_at).limit(AT_ONCE))).scalars()
            )

    async def pending(self) -> int:
        """How many wait for a retry or for a person."""
        query = select(func.count()).select_from(dead_letters).where(text("dead_letter_queue.status = 'pending'"))
        async with self._database.glance() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def retry(self, letter_ids: Sequence[int], now: datetime) -> int:
        """Put the letters' jobs back into the queue at the stage where they died; answers how many."""
        await self._ids.reserve(len(letter_ids) + 1)
        async with self._database.write() as connection:
            opened = await self._open(connection, letter_ids)
            new_runs = await self._new_runs(connection, opened, now) if opened else {}
            letters = [letter for letter in opened if letter["source_id"] in new_runs]
            await self._leave_to_a_person([letter["id"] for letter in opened if letter not in letters], connection, now)
            if not letters:
                return 0
            for letter in letters:
                await self._revive(connection, letter, new_runs[letter["source_id"]], now)
            keys = [letter["id"] for letter in letters]
            going = update(dead_letters).where(dead_letters.c.id.in_(keys))
            await connection.execute(going.values(status=LetterStatus.RETRYING, updated_at=now))
            await mark_work(connection, {letter["payload"]["host"] for letter in letters})
        return len(letters)

    async def discard(self, letter_ids: Sequence[int], notes: str, now: datetime) -> int:
        """Give letters up, on a person's word."""
        query = (
            update(dead_letters)
            .where(dead_letters.c.id.in_(letter_ids), dead_letters.c.status == LetterStatus.PENDING)
            .values(
                status=LetterStatus.DISCARDED,
                resolved_at=now,
                resolution_notes=notes,
                updated_at=now,
                next_retry_at=None,
            )
        )
        async with self._database.write() as connection:
            return int((await connection.execute(query)).rowcount)

    async def _open(self, connection: AsyncConnection, letter_ids: Sequence[int]) -> list[Mapping[Any, Any]]:
        query = (
            select(dead_letters)
            .where(dead_letters.c.id.in_(letter_ids), dead_letters.c.status == LetterStatus.PENDING)
            .order_by(dead_letters.c.id)
            .with_for_update()
        )
        return list((await connection.execute(query)).mappings().all())

    async def _new_runs(
        self, connection: AsyncConnection, letters: Sequence[Mapping[Any, Any]], now: datetime
    ) -> dict[int, int]:
        counts: dict[int, int] = {}
        for letter in letters:
            counts[letter["source_id"]] = counts.get(letter["source_id"], 0) + 1
        query = select(sources.c.id, sources.c.vertical, sources.c.adapter_id).where(sources.c.id.in_(sorted(counts)))
        rows = [
            {"id": self._ids.take(), "source_id": row.id, "vertical": row.vertical, "adapter_id": row.adapter_id,
             "trigger": Trigger.RETRY, "open_jobs": counts[row.id], "started_at": now}
            for row in await connection.execute(query)
        ]  # fmt: skip
        if rows:
            await connection.execute(runs.insert(), rows)
        return {row["source_id"]: row["id"] for row in rows}

    async def _leave_to_a_person(self, keys: Sequence[int], connection: AsyncConnection, now: datetime) -> None:
        """Letters whose source was removed are not tried again by themselves."""
        if keys:
            alone = update(dead_letters).where(dead_letters.c.id.in_(keys))
            await connection.execute(alone.values(next_retry_at=None, updated_at=now))

    async def _revive(self, connection: AsyncConnection, letter: Mapping[Any, Any], run_id: int, now: datetime) -> None:
        """The job as it was; one that retention took is written anew from the letter's payload."""
        payload = letter["payload"]
        again = {
            "run_id": run_id,
            "trigger": Trigger.RETRY,
            "status": JobStatus.READY,
            "current_stage": letter["stage"],
            "attempts": 0,
            "not_before": None,
            "leased_by": None,
            "completed_at": None,
        }
        known = update(jobs).where(jobs.c.id == letter["job_id"]).values(**again, fence=jobs.c.fence + 1)
        if (await connection.execute(known)).rowcount:
            return
        same = ("target_id", "source_id", "vertical", "lane", "host", "url")
        number = payload.get("page_number", 1)  # letters of old know no pages
        stage = Stage.FETCH if payload["page_id"] is None else letter["stage"]
        row = {name: payload[name] for name in same} | again | {"current_stage": stage}
        row |= {
            "id": letter["job_id"],
            "adapter_id": "",
            "due_at": now,
            "page_id": payload["page_id"],
            "page_number": number,
            "created_at": now,
        }
        await connection.execute(jobs.insert(), [row])
