"""Objectives: their good and bad minutes by the hour, and the sources that may keep them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from tidemill.core.objectives.exclusion import ScheduledSource
from tidemill.core.objectives.minutes import HourOfMinutes, LastCount, last_minute
from tidemill.core.objectives.objective import CheckedRecords
from tidemill.store.database.database import Database
from tidemill.store.schema import objective_hours, sources, targets

_HOURS = (
    select(objective_hours.c.hour, objective_hours.c.counted, objective_hours.c.bad)
    .where(objective_hours.c.objective == bindparam("b_name"), objective_hours.c.hour >= bindparam("b_since"))
    .order_by(objective_hours.c.hour)
)
_LAST = (
    select(objective_hours)
    .where(objective_hours.c.objective == bindparam("b_name"))
    .order_by(objective_hours.c.hour.desc())
    .limit(1)
)
_SOURCES = (
    select(sources.c.id, sources.c.name, sources.c.enabled, sources.c.tier, sources.c.time_zone)
    .where(sources.c.vertical == bindparam("b_vertical"))
    .order_by(sources.c.id)
)
_SCHEDULES = (
    select(targets.c.source_id, func.coalesce(targets.c.schedule, "").label("schedule"))
    .join(sources, sources.c.id == targets.c.source_id)
    .where(sources.c.vertical == bindparam("b_vertical"), targets.c.enabled)
    .distinct()
)


def _upsert(kind: Any) -> Any:
    statement = kind.insert(objective_hours)
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["objective", "hour"],
        set_={
            "counted": objective_hours.c.counted.op("|")(new.counted),
            "bad": objective_hours.c.bad.op("|")(new.bad),
            "active": new.active,
            "checked": new.checked,
            "updated_at": new.updated_at,
        },
    )


_PUT = {kind.dialect.name: _upsert(kind) for kind in (sqlite, postgresql)}


class ObjectiveRepository:
    """The table of minutes."""

    def __init__(self, database: Database) -> None:
        """Work on this database."""
        self._database = database

    async def last(self, name: str) -> LastCount | None:
        """Return what was counted last for an objective; None before the first minute."""
        async with self._database.glance() as connection:
            row = (await connection.execute(_LAST, {"b_name": name})).mappings().one_or_none()
        if row is None:
            return None
        hour = HourOfMinutes(row["hour"], row["counted"], row["bad"])
        return LastCount(
            last=last_minute(hour), records=CheckedRecords(row["active"], row["checked"]), at=row["updated_at"]
        )

    async def count(self, name: str, hours: Sequence[HourOfMinutes], records: CheckedRecords, now: datetime) -> None:
        """Write minutes down; one that is known already stays one."""
        rows = [
            {
                "objective": name, "hour": each.hour, "counted": each.counted, "bad": each.bad,
                "active": records.active, "checked": records.checked, "updated_at": now,
            }
            for each in hours
        ]  # fmt: skip
        if not rows:
            return
        async with self._database.write() as connection:
            await connection.execute(_PUT[connection.dialect.name], rows)

    async def hours(self, name: str, since: datetime) -> list[HourOfMinutes]:
        """Return the hours of an objective from a moment on."""
        async with self._database.read() as connection:
            rows = await connection.execute(_HOURS, {"b_name": name, "b_since": since})
            return [HourOfMinutes(row.hour, row.counted, row.bad) for row in rows]

    async def scheduled_sources(self, vertical: str) -> list[ScheduledSource]:
        """Return the sources of a vertical with the schedules of their targets."""
        schedules: dict[int, list[str]] = {}
        async with self._database.read() as connection:
            for row in await connection.execute(_SCHEDULES, {"b_vertical": vertical}):
                schedules.setdefault(row.source_id, []).append(row.schedule)
            found = list((await connection.execute(_SOURCES, {"b_vertical": vertical})).mappings())
        return [
            ScheduledSource(
                id=row["id"], name=row["name"], is_on=row["enabled"], tier=row["tier"] or "",
                time_zone=row["time_zone"] or "UTC", schedules=sorted(schedules.get(row["id"], [])),
            )
            for row in found
        ]  # fmt: skip
