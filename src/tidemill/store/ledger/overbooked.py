"""Hosts with more targets than their pace can serve within a cycle: freshness that cannot be had."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import func, select

from tidemill.core.policy import Policy, freshness_debt
from tidemill.store.database.database import Database
from tidemill.store.schema import hosts, sources, targets
from tidemill.store.schema.rows import pace_of

_LOAD = (
    select(hosts.c.host, hosts.c.interval_ms, hosts.c.burst, hosts.c.parallel, hosts.c.crawl_delay_ms,
           sources.c.vertical, func.count().label("targets"))
    .select_from(targets)
    .join(sources, sources.c.id == targets.c.source_id)
    .join(hosts, hosts.c.host == targets.c.host)
    .where(targets.c.enabled, sources.c.enabled)
    .group_by(hosts.c.host, sources.c.vertical)
    .order_by(hosts.c.host, sources.c.vertical)
)  # fmt: skip


class OverbookedHosts:
    """Finds the hosts that are asked for more than their pace allows."""

    def __init__(self, database: Database, policies: Mapping[str, Policy]) -> None:
        """`policies` by vertical."""
        self._database = database
        self._policies = policies

    async def overbooked(self) -> list[tuple[str, str]]:
        """Each crowded host, and by how much its targets outrun its pace."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_LOAD)).mappings().all()
        found = []
        for row in rows:
            if (policy := self._policies.get(row["vertical"])) is None:
                continue  # nothing is asked for a vertical that is not installed
            pace, cycle = pace_of(row), policy.cycle
            debt = freshness_debt(row["targets"], pace, cycle)
            if debt > timedelta(0):
                demand = f"{row['targets']} targets at one per {pace.interval}"
                found.append((row["host"], f"{demand} take {debt} longer than their cycle of {cycle}"))
        return found
