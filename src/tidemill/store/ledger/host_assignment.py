"""Under which host each target and job is counted, when the settings have changed that.

A target is put under its host when it is brought in. A host name that gets a pace of its own later, or loses it, takes
its targets and their open jobs along; every worker sees to that when it signs in.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, or_, select, update

from tidemill.core.pacing import has_own_pace, pace_key
from tidemill.core.source import counts_by_host
from tidemill.core.urls import BadUrl, host_of
from tidemill.store.database.database import Database
from tidemill.store.ledger.claims import mark_work
from tidemill.store.schema import IS_OPEN, hosts, jobs, sources, targets
from tidemill.store.sources.hosts import Paces, ensure_hosts

_HOSTS = select(hosts.c.host)
_COUNTED = select(targets.c.id, targets.c.url, targets.c.host, sources.c.adapter_settings).join_from(
    targets, sources, targets.c.source_id == sources.c.id
)
_MOVE_TARGET = update(targets).where(targets.c.id == bindparam("b_id")).values(host=bindparam("b_host"))
_MOVE_JOBS = (
    update(jobs)
    .where(jobs.c.target_id == bindparam("b_id"), IS_OPEN, or_(jobs.c.status == "ready", jobs.c.status == "waiting"))
    .values(host=bindparam("b_host"))
)


class HostAssignment:
    """Keeps targets and open jobs under the hosts that the settings name."""

    def __init__(self, database: Database, paces: Paces) -> None:
        """Work on one database; `paces` are those of the settings."""
        self._database = database
        self._paces = paces

    async def settle(self, now: datetime) -> int:
        """Put every target under today's host, with its pace; answers how many had to move."""
        async with self._database.read() as connection:
            known = set((await connection.execute(_HOSTS)).scalars())
            former = sorted(name for name in known - self._paces.own.keys() if has_own_pace(name))
            wanted = [*(_is_at(name) for name in self._paces.own), *([targets.c.host.in_(former)] if former else [])]
            rows = (await connection.execute(_COUNTED.where(or_(*wanted)))).mappings().all() if wanted else []
        moves = [(row["host"], move) for row in rows if (move := self._move(row))["b_host"] != row["host"]]
        if moves or known & self._paces.own.keys():
            await self._carry_out([old for old, _ in moves], [move for _, move in moves], now)
        return len(moves)

    async def _carry_out(self, left: Sequence[str], moves: list[dict[str, Any]], now: datetime) -> None:
        reached = {move["b_host"] for move in moves}
        async with self._database.write() as connection:
            if moves:
                await connection.execute(_MOVE_TARGET, moves)
                await connection.execute(_MOVE_JOBS, moves)
            await ensure_hosts(connection, self._database, {*left, *reached, *self._paces.own}, self._paces, now)
            await mark_work(connection, reached)

    def _move(self, row: Any) -> dict[str, Any]:
        try:
            name = host_of(row["url"])
        except BadUrl:  # it is refused before anything is asked, wherever it is counted
            return {"b_id": row["id"], "b_host": row["host"]}
        key = name if counts_by_host(row["adapter_settings"]) else pace_key(name, self._paces.own)
        return {"b_id": row["id"], "b_host": key}


def _is_at(name: str) -> ColumnElement[bool]:
    """Whether a target is on this host; canonical addresses are all spelled alike."""
    canonical = targets.c.canonical_url
    bare, with_port = (canonical.startswith(f"https://{name}{end}", autoescape=True) for end in "/:")
    return or_(bare, with_port)
