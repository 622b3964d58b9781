"""How well adapters fit, as people act on it: blessings, forgiveness, stored pages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.page import Page
from tidemill.core.quality.drift import ALL_RECORDS, shares_of
from tidemill.core.source import Source
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.pages.stage_inputs import StageInputs
from tidemill.store.quality.poorer_readings import accept_readings
from tidemill.store.schema import (
    adapter_status,
    drift_standings,
    field_baselines,
    incidents,
    pages,
    runs,
    sources,
    targets,
)
from tidemill.store.schema.rows import source_of
from tidemill.store.upkeep.audit import take_keys, write_audit

RUNS_BLESSED = 5
"""How many of the latest runs a blessing looks at."""

_OFF = exists().where(adapter_status.c.adapter_id == sources.c.adapter_id, ~adapter_status.c.enabled)
_SWITCHED_OFF = select(sources.c.id, sources.c.adapter_id, or_(sources.c.auto_disabled, _OFF).label("was_off"))
_COUNTED = (
    select(runs.c.field_counts)
    .where(runs.c.source_id == bindparam("b_source"), runs.c.field_counts.is_not(None))
    .where(runs.c.completed_at.is_not(None))
    .order_by(runs.c.started_at.desc())
    .limit(RUNS_BLESSED)
)
_LATEST = (
    select(func.max(pages.c.id))
    .join(targets, targets.c.id == pages.c.target_id)
    .where(targets.c.adapter_id == bindparam("b_adapter"), pages.c.status_code == 200)  # noqa: PLR2004 - HTTP's "OK"
    .group_by(pages.c.target_id)
    .order_by(func.max(pages.c.id).desc())
    .limit(bindparam("b_limit"))
)


class FieldBaseline(msgspec.Struct, frozen=True):
    """The share of a source's records that have each field, taken over so many records."""

    source_id: int
    records: int
    shares: dict[str, float]


class KeptBaseline(msgspec.Struct, frozen=True, kw_only=True):
    """The share of records that should have a field, as a person took it for good."""

    source_id: int
    source_name: str
    field: str
    share: float
    records: int
    blessed_by: str
    blessed_at: datetime


class AdapterFitRepository:
    """What people see and decide about how adapters fit."""

    def __init__(self, database: Database, ids: Ids, materials: StageInputs) -> None:
        """`materials` read stored pages back."""
        self._database = database
        self._ids = ids
        self._materials = materials

    async def latest_pages(self, adapter_id: str, limit: int) -> list[tuple[Source, Page]]:
        """The newest stored page of each of an adapter's targets, with its source."""
        async with self._database.read() as connection:
            found = list((await connection.execute(_LATEST, {"b_adapter": adapter_id, "b_limit": limit})).scalars())
            query = select(pages.c.id, sources).join(sources, sources.c.id == pages.c.source_id)
            rows = (await connection.execute(query.where(pages.c.id.in_(found)))).mappings().all()
        owners = {row[pages.c.id]: source_of({each.name: row[each] for each in sources.columns}) for row in rows}
        kept = [(owners[key], await self._materials.page(key)) for key in found if key in owners]
        return [(source, page) for source, page in kept if page is not None]

    async def sources_of(self, adapter_id: str) -> list[Source]:
        """The sources that an adapter reads."""
        query = select(sources).where(sources.c.adapter_id == adapter_id).order_by(sources.c.id)
        async with self._database.read() as connection:
            return [source_of(row) for row in (await connection.execute(query)).mappings()]

    async def measure(self, source_id: int) -> FieldBaseline:
        """What the latest runs of a source show, to be blessed or not."""
        async with self._database.read() as connection:
            counted = list((await connection.execute(_COUNTED, {"b_source": source_id})).scalars())
        total: dict[str, int] = {}
        for counts in counted:
            for field, count in counts.items():
                total[field] = total.get(field, 0) + count
        return FieldBaseline(source_id, total.get(ALL_RECORDS, 0), shares_of(total))

    async def baselines(self, adapter_id: str) -> list[KeptBaseline]:
        """What people took for good of an adapter's sources, by source and field."""
        kept = (field_baselines.c[name] for name in KeptBaseline.__struct_fields__ if name != "source_name")
        query = (
            select(*kept, sources.c.name.label("source_name"))
            .join(sources, sources.c.id == field_baselines.c.source_id)
            .where(sources.c.adapter_id == adapter_id)
            .order_by(sources.c.name, field_baselines.c.field)
        )
        async with self._database.read() as connection:
            return [KeptBaseline(**row) for row in (await connection.execute(query)).mappings()]

    async def bless(
        self, blessings: Sequence[FieldBaseline], by: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Take these shares as what should be, in the place of what was blessed before."""
        keys = await take_keys(self._ids, len(audit))
        rows = [
            {"source_id": each.source_id, "field": field, "share": share, "records": each.records, "blessed_by": by,
             "blessed_at": now}
            for each in blessings
            for field, share in each.shares.items()
        ]  # fmt: skip
        owners = [each.source_id for each in blessings]
        async with self._database.write() as connection:
            await connection.execute(delete(field_baselines).where(field_baselines.c.source_id.in_(owners)))
            if rows:
                await connection.execute(field_baselines.insert(), rows)
            await accept_readings(connection, owners)
            await write_audit(connection, zip(keys, audit, strict=True), now)


async def forgive_drift(connection: AsyncConnection, condition: Any, by: str, now: datetime) -> None:
    """Forget what is held against the adapters of these sources.

    Where drift had switched something off, the next run is watched closely. A source that a person had switched
    off for reasons of their own is judged as before: one bad page of a small site would switch it off for good.
    """
    whose = (await connection.execute(_SWITCHED_OFF.where(condition))).all()
    owners = [row.id for row in whose]
    if not owners:
        return
    await connection.execute(delete(drift_standings).where(drift_standings.c.source_id.in_(owners)))
    await accept_readings(connection, owners)
    watched = [
        {"adapter_id": row.adapter_id, "source_id": row.id, "watched": True, "updated_at": now}
        for row in whose
        if row.was_off
    ]
    if watched:
        await connection.execute(drift_standings.insert(), watched)
    still_open = (incidents.c.source_id.in_(owners), incidents.c.closed_at.is_(None), incidents.c.rule != "")
    await connection.execute(update(incidents).where(*still_open).values(closed_at=now, closed_by=by))
    await connection.execute(update(sources).where(sources.c.id.in_(owners)).values(auto_disabled=False))
