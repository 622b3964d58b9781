"""Dead letters come back to life: the same job, from the stage where it died, in a run of its own."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, case, exists, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.job import SUSPECT_AFTER, JobStatus
from tidemill.core.outcome import Stage
from tidemill.core.run import Trigger
from tidemill.pipeline.dispatch import OpenedRun
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.claims import mark_work
from tidemill.store.ledger.suspects import READY_OR_SUSPECT
from tidemill.store.schema import breakers, dead_letters, jobs, runs, sources
from tidemill.store.schema.rows import Row

AT_ONCE = 200

_PENDING = text("dead_letter_queue.status = 'pending'")
_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_BARRED = exists().where(
    breakers.c.source_id == dead_letters.c.source_id,
    breakers.c.state == "OPEN",
    breakers.c.cooldown_until > bindparam("b_now"),
)
_DUE = (
    select(dead_letters.c.id)
    .where(_PENDING, dead_letters.c.next_retry_at <= bindparam("b_now"), ~_BARRED)
    .order_by(dead_letters.c.next_retry_at)
    .limit(AT_ONCE)
)
_OPENED = (
    select(dead_letters)
    .where(dead_letters.c.id.in_(_KEYS), dead_letters.c.status == DeadLetterStatus.PENDING)
    .order_by(dead_letters.c.id)
    .with_for_update()
)
_OF_KEYS = update(dead_letters).where(dead_letters.c.id.in_(_KEYS))
_GOING = _OF_KEYS.values(status=DeadLetterStatus.RETRYING, updated_at=bindparam("b_now"))
_LEFT_ALONE = _OF_KEYS.values(next_retry_at=None, updated_at=bindparam("b_now"))
_WHOSE = select(sources.c.id, sources.c.vertical, sources.c.adapter_id).where(sources.c.id.in_(_KEYS))
_NEW_RUN = runs.insert()
_AGAIN: dict[str, Any] = {
    "trigger": Trigger.RETRY,
    "status": JobStatus.READY,
    "attempts": 0,
    "not_before": None,
    "leased_by": None,
    "completed_at": None,
}
"""What a job that comes back to life has in common with a new one."""
_SUSPECT_STILL = case((jobs.c.deaths > SUSPECT_AFTER, SUSPECT_AFTER), else_=jobs.c.deaths)
"""Who killed workers is tried again alone, with as many lives as before."""
_REVIVED = (
    update(jobs)
    .where(jobs.c.id == bindparam("b_id"))
    .values(
        **_AGAIN | {"status": READY_OR_SUSPECT, "deaths": _SUSPECT_STILL},
        run_id=bindparam("b_run"),
        current_stage=bindparam("b_stage"),
        fence=jobs.c.fence + 1,
    )
)


class DeadLetterRetries:
    """What can be done with dead letters; a person and the retry tick use the same."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on one database."""
        self._database = database
        self._ids = ids

    async def due(self, now: datetime) -> list[int]:
        """Letters whose time for another try has come; those of a source whose breaker is open wait for it."""
        async with self._database.glance() as connection:
            return list((await connection.execute(_DUE, {"b_now": now})).scalars())

    async def retry(self, letter_ids: Sequence[int], now: datetime) -> list[OpenedRun]:
        """Put the letters' jobs back into the queue at the stage where they died; answers their new runs."""
        if not letter_ids:
            return []
        await self._ids.reserve(len(letter_ids) + 1)
        async with self._database.write() as connection:
            opened = await self._open(connection, letter_ids)
            new_runs = await self._new_runs(connection, opened, now) if opened else {}
            letters = [letter for letter in opened if letter["source_id"] in new_runs]
            alone = [letter["id"] for letter in opened if letter["source_id"] not in new_runs]
            await self._leave_to_a_person(alone, connection, now)
            if not letters:
                return []
            for letter in letters:
                await self._revive(connection, letter, new_runs[letter["source_id"]], now)
            await connection.execute(_GOING, {"b_keys": [letter["id"] for letter in letters], "b_now": now})
            await mark_work(connection, {letter["payload"]["host"] for letter in letters})
        counts = Counter(letter["source_id"] for letter in letters)
        return [OpenedRun(run_id, source, Trigger.RETRY, counts[source]) for source, run_id in new_runs.items()]

    async def discard(self, letter_ids: Sequence[int], notes: str, now: datetime) -> int:
        """Give letters up, on a person's word."""
        query = (
            update(dead_letters)
            .where(dead_letters.c.id.in_(letter_ids), dead_letters.c.status == DeadLetterStatus.PENDING)
            .values(
                status=DeadLetterStatus.DISCARDED,
                resolved_at=now,
                resolution_notes=notes,
                updated_at=now,
                next_retry_at=None,
            )
        )
        async with self._database.write() as connection:
            return int((await connection.execute(query)).rowcount)

    async def _open(self, connection: AsyncConnection, letter_ids: Sequence[int]) -> list[Row]:
        return list((await connection.execute(_OPENED, {"b_keys": letter_ids})).mappings())

    async def _new_runs(self, connection: AsyncConnection, letters: Sequence[Row], now: datetime) -> dict[int, int]:
        counts = Counter(letter["source_id"] for letter in letters)
        rows = [
            {"id": self._ids.take(), "source_id": row["id"], "vertical": row["vertical"],
             "adapter_id": row["adapter_id"], "trigger": Trigger.RETRY, "open_jobs": counts[row["id"]],
             "started_at": now}
            for row in (await connection.execute(_WHOSE, {"b_keys": sorted(counts)})).mappings()
        ]  # fmt: skip
        await write_each(connection, _NEW_RUN, rows)
        return {row["source_id"]: row["id"] for row in rows}

    async def _leave_to_a_person(self, keys: Sequence[int], connection: AsyncConnection, now: datetime) -> None:
        """Letters whose source was removed are not tried again by themselves."""
        if keys:
            await connection.execute(_LEFT_ALONE, {"b_keys": keys, "b_now": now})

    async def _revive(self, connection: AsyncConnection, letter: Row, run_id: int, now: datetime) -> None:
        """The job as it was; one that retention took is written anew from the letter's payload."""
        where = {"b_id": letter["job_id"], "b_run": run_id, "b_stage": letter["stage"]}
        if (await connection.execute(_REVIVED, where)).rowcount:
            return
        payload = letter["payload"]
        same = ("target_id", "source_id", "vertical", "lane", "host", "url")
        number = payload.get("page_number", 1)  # letters of old know no pages
        stage = Stage.FETCH if payload["page_id"] is None else letter["stage"]
        row = {name: payload[name] for name in same} | _AGAIN | {"run_id": run_id, "current_stage": stage}
        row |= {
            "id": letter["job_id"],
            "adapter_id": "",
            "due_at": now,
            "page_id": payload["page_id"],
            "page_number": number,
            "created_at": now,
        }
        if (deaths := min(SUSPECT_AFTER, payload.get("deaths", 0))) == SUSPECT_AFTER:
            row |= {"deaths": deaths, "status": JobStatus.WAITING}
        await connection.execute(jobs.insert(), [row])
