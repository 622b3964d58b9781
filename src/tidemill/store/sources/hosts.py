"""Hosts: one row per registrable domain, or per host name with a pace of its own, holding the pace of all."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Select, bindparam, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.pacing import OwnPaces, Pace
from tidemill.store.database.database import Database
from tidemill.store.schema import hosts, sources, targets

MILLISECOND = timedelta(milliseconds=1)
NAMED_AT_ONCE = 1_000
"""With more hosts than this, all of them are looked at rather than named one by one."""


class Paces(msgspec.Struct, frozen=True):
    """The pace of hosts whose sources set none, and the hosts that have one of their own."""

    default: Pace = Pace()
    own: OwnPaces = {}


_SETTLE = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host"))
    .values(interval_ms=bindparam("b_interval"), burst=bindparam("b_burst"), parallel=bindparam("b_parallel"))
)


async def ensure_hosts(
    connection: AsyncConnection, database: Database, names: Collection[str], paces: Paces, now: datetime
) -> None:
    """Make rows for hosts that have none, then settle every pace."""
    if not names:
        return
    rows = [
        {
            "host": name,
            "interval_ms": paces.default.interval // MILLISECOND,
            "burst": paces.default.burst,
            "parallel": paces.default.parallel,
            "opens_at": now,
        }
        for name in sorted(set(names))
    ]
    await connection.execute(database.insert(hosts).on_conflict_do_nothing(), rows)
    await settle_paces(connection, names, paces)


async def settle_paces(connection: AsyncConnection, names: Collection[str], paces: Paces) -> None:
    """Give each host the slowest of its sources' paces: the longest interval, the least burst and parallelism.

    Sources that are switched off count too: switching one on must never be what makes us impolite. A host that the
    settings name has the pace that they give it, whatever its sources say.
    """
    if not names:
        return
    query = _slowest(paces.default)
    if len(names) <= NAMED_AT_ONCE:
        query = query.where(targets.c.host.in_(sorted(set(names))))
    rows = (await connection.execute(query.order_by(targets.c.host))).all()
    settled = [
        {"b_host": row.host, "b_interval": row.interval, "b_burst": row.burst, "b_parallel": row.parallel}
        for row in rows
        if row.host not in paces.own
    ]
    settled += [_told(name, paces.own[name]) for name in sorted(set(names) & paces.own.keys())]
    if settled:
        await connection.execute(_SETTLE, settled)


def _told(name: str, pace: Pace) -> dict[str, object]:
    interval = pace.interval // MILLISECOND
    return {"b_host": name, "b_interval": interval, "b_burst": pace.burst, "b_parallel": pace.parallel}


async def hosts_of_sources(connection: AsyncConnection, source_ids: Collection[int]) -> set[str]:
    """The hosts that these sources' targets are on."""
    if not source_ids:
        return set()
    query = select(targets.c.host).where(targets.c.source_id.in_(sorted(source_ids))).distinct()
    return set((await connection.execute(query)).scalars())


def _slowest(default: Pace) -> Select[Any]:
    own = sources.c.pace_interval_ms.is_not(None)
    interval = func.coalesce(sources.c.pace_interval_ms, default.interval // MILLISECOND)
    burst = case((own, func.coalesce(sources.c.pace_burst, 1)), else_=default.burst)
    parallel = case((own, func.coalesce(sources.c.pace_parallel, 1)), else_=default.parallel)
    return (
        select(
            targets.c.host,
            func.max(interval).label("interval"),
            func.min(burst).label("burst"),
            func.min(parallel).label("parallel"),
        )
        .join_from(targets, sources, targets.c.source_id == sources.c.id)
        .group_by(targets.c.host)
    )
