"""Lists followed over their pages: a page that leads to another makes a job for it in the same commit."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.outcome import Stage
from tidemill.core.pagination import EndOfList, NextPage, followed_page, has_enough, next_page, split_onward
from tidemill.core.policy import Policy
from tidemill.core.urls import canonicalize
from tidemill.pipeline.checkpoints import Checkpoint
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.claims import mark_work
from tidemill.store.ledger.run_counts import RunCounts
from tidemill.store.schema import jobs
from tidemill.store.schema.rows import Row

Onward = tuple[Checkpoint, str, str, int]
"""A checkpoint, the address its page really had, where it leads, and how many records the page showed."""

_COPIED = ("run_id", "source_id", "target_id", "vertical", "adapter_id", "lane", "host", "trigger", "due_at", "rank",
           "priority", "max_attempts")  # fmt: skip
_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_parents = jobs.alias("parents")
_CHAINS = (
    select(_parents.c.id.label("parent_id"), jobs.c.id, jobs.c.url, *(jobs.c[name] for name in _COPIED))
    .join(_parents, (jobs.c.target_id == _parents.c.target_id) & (jobs.c.due_at == _parents.c.due_at))
    .where(_parents.c.id.in_(_KEYS))
)
"""Every page so far of the lists that these jobs are part of."""


async def follow(
    connection: AsyncConnection,
    database: Database,
    ids: Ids,
    onward: Sequence[Onward],
    policies: Mapping[str, Policy],
    tallies: Mapping[int, RunCounts],
    now: datetime,
) -> int:
    """Make jobs of the next pages, each once however often it is asked for; answers how many are new.

    What is not followed though it goes on is counted against its run, which then cannot be complete.
    """
    chains = await _chains(connection, [checkpoint.claimed.job.id for checkpoint, *_ in onward])
    rows = []
    for checkpoint, final_url, next_url, shown in onward:
        job, source = checkpoint.claimed.job, checkpoint.claimed.source
        chain = chains.get(job.id, {})
        seen = {canonicalize(row["url"]) for row in chain.values()} | {canonicalize(final_url)}
        most = source.max_pages or policies[job.vertical].max_pages
        enough = has_enough(job.page_number, shown, checkpoint.claimed.target.max_records)
        following, others = split_onward(next_url)
        steps = [next_page(job.page_number, following, job.host, seen, most, has_enough=enough)]
        fresh = enumerate(dict.fromkeys(others), start=len(chain))
        steps += [followed_page(each, job.host, seen, pages, most) for pages, each in fresh]
        if job.id in chain:
            rows += [_job_row(ids.take(), chain[job.id], step, now) for step in steps if isinstance(step, NextPage)]
        cut_short = sum(1 for step in steps if isinstance(step, EndOfList) and step.truncated)
        if cut_short:
            tallies[job.run_id].add(truncated_pages=cut_short)
    if not rows:
        return 0
    inserted = await _insert(connection, database, rows)
    for run_id in inserted:
        tallies[run_id].follow()
    await mark_work(connection, {row["host"] for row in rows})
    return len(inserted)


async def _chains(connection: AsyncConnection, job_ids: Sequence[int]) -> dict[int, dict[int, Row]]:
    chains: dict[int, dict[int, Row]] = {}
    for row in (await connection.execute(_CHAINS, {"b_keys": sorted(job_ids)})).mappings():
        chains.setdefault(row["parent_id"], {})[row["id"]] = row
    return chains


async def _insert(connection: AsyncConnection, database: Database, rows: list[dict[str, Any]]) -> list[int]:
    """Insert the jobs that do not exist yet; answers their runs."""
    rows.sort(key=lambda row: (row["target_id"], row["page_number"]))
    statement = database.insert(jobs).on_conflict_do_nothing(index_elements=["target_id", "due_at", "page_number"])
    return list((await connection.execute(statement.returning(jobs.c.run_id), rows)).scalars())


def _job_row(key: int, parent: Row, step: NextPage, now: datetime) -> dict[str, Any]:
    fresh = {"id": key, "url": step.url, "page_number": step.number, "created_at": now}
    return {name: parent[name] for name in _COPIED} | fresh | {"current_stage": Stage.FETCH, "status": "ready"}
