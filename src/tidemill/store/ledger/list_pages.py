"""The further pages of a target's list: what each is compared with the next time it is fetched."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.target import Target
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Claimed
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.upserts import upsert
from tidemill.store.ledger.effects import NOT_COMPARED, is_good
from tidemill.store.schema import target_pages
from tidemill.store.schema.rows import Row, shape_in

_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_OF_TARGETS = select(target_pages).where(target_pages.c.target_id.in_(_KEYS))
_COMPARED = ("etag", "last_modified", "good_page_id", "good_digest", "good_reader", "good_shape")
_NOTHING = {**dict.fromkeys(_COMPARED), "etag": "", "last_modified": ""}
_REMEMBERED = upsert(target_pages, ["target_id", "page_number"], ["url", *_COMPARED])


async def further_pages(connection: AsyncConnection, target_ids: Sequence[int]) -> dict[tuple[int, int], Row]:
    """What these targets' further pages are compared with, by target and page number; no targets, no question."""
    if not target_ids:
        return {}
    rows = (await connection.execute(_OF_TARGETS, {"b_keys": sorted(set(target_ids))})).mappings()
    return {(row["target_id"], row["page_number"]): row for row in rows}


def as_seen_by(job: Job, target: Target, known: dict[tuple[int, int], Row]) -> Target:
    """The target as its job compares with it: a further page has an ETag and a last good page of its own.

    What is known of another address is of no use, though it had the same place in the list.
    """
    if job.page_number == 1:
        return target
    row = known.get((target.id, job.page_number))
    compared = dict(_NOTHING)
    if row is not None and row["url"] == job.url:
        compared = {name: row[name] for name in _COMPARED} | {"good_shape": shape_in(row)}
    return msgspec.structs.replace(target, **compared)


async def remember(connection: AsyncConnection, database: Database, ended: Sequence[Checkpoint]) -> None:
    """Keep the further pages that went all the way, to compare the next ones with."""
    rows = {}
    for each in ended:
        harvest = getattr(each.outcome, "produced", None)
        if each.claimed.job.page_number > 1 and isinstance(harvest, AcceptedRecords) and not harvest.judged.unusable:
            row = _row(each.claimed, harvest)
            rows[row["target_id"], row["page_number"]] = row
    await write_each(connection, _REMEMBERED[database.dialect], [rows[key] for key in sorted(rows)])


def _row(claimed: Claimed, harvest: AcceptedRecords) -> dict[str, Any]:
    job, page, before = claimed.job, harvest.judged.page, claimed.target
    row = {"target_id": job.target_id, "page_number": job.page_number, "url": job.url}
    shape = harvest.judged.shape or before.good_shape
    kept = None if shape is None else msgspec.to_builtins(shape)
    if not is_good(harvest.judged):
        good = {"good_page_id": before.good_page_id, "good_reader": before.good_reader, "good_shape": kept}
        return {**row, **good, **NOT_COMPARED}
    return {
        **row,
        "etag": page.etag,
        "last_modified": page.last_modified,
        "good_page_id": page.id,
        "good_digest": page.digest,
        "good_reader": harvest.judged.reader,
        "good_shape": kept,
    }
