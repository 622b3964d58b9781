"""How the services outside of us stand: known in memory, written when it changes, read by every process."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update

from tidemill.core.checks.secrets import redact_text
from tidemill.core.services.degradation import (
    FALLBACKS,
    LONGEST_REASON,
    NEEDED_BY_ALL,
    Service,
    ServiceState,
    ServiceStatus,
    degraded,
    is_outdated,
    off,
    working,
)
from tidemill.pipeline.happenings import (
    Announce,
    Happening,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
)
from tidemill.pipeline.ports import Clock, Probe, StoreError
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.schema import service_status

TOLD_AGAIN = timedelta(minutes=1)
"""While a service stays degraded, or the database could not be told, the word is written again so often."""
FORGOTTEN_AFTER = timedelta(minutes=30)
"""A degraded service that cannot be probed, and of which nobody has complained for so long, is given a new chance."""


class _Known(msgspec.Struct, frozen=True):
    """What this process last said about a service, when, and whether the database knows."""

    state: ServiceState
    since: datetime
    told_at: datetime
    is_written: bool


class Services:
    """The book of services; see `ServiceBook`."""

    def __init__(
        self, database: Database, clock: Clock, announce: Announce, missing: Mapping[Service, str] | None = None
    ) -> None:
        """`missing` names the services that are not set up, each with words that say how to."""
        self._database = database
        self._clock = clock
        self._announce = announce
        self._missing = dict(missing or {})
        self._known: dict[Service, _Known] = {}
        self._probes: dict[Service, Probe] = {}
        self._always_probed: set[Service] = set()
        self._put = _upsert(database)

    def state_of(self, service: Service) -> ServiceState:
        """How it stands as far as this process knows."""
        known = self._known.get(service)
        if known is not None:
            return known.state
        return ServiceState.OFF if service in self._missing else ServiceState.WORKS

    def degraded_for_all_runs(self) -> tuple[Service, ...]:
        """The degraded services that every run needs."""
        if not self._known:
            return ()
        return tuple(each for each in sorted(NEEDED_BY_ALL) if self.state_of(each) is ServiceState.DEGRADED)

    def register_probe(self, service: Service, probe: Probe, *, always: bool = False) -> None:
        """Let the periodic look ask the service with `probe`: while it is degraded, or `always`.

        What is used only now and then would else be noticed late.
        """
        self._probes[service] = probe
        if always:
            self._always_probed.add(service)

    async def degraded(self, service: Service, why: str) -> None:
        """The service failed us, and its fallback was used."""
        why, now, known = redact_text(why), self._clock.now(), self._known.get(service)
        is_news = known is None or known.state is not ServiceState.DEGRADED
        if known is not None and not is_news and now - known.told_at < TOLD_AGAIN:
            return
        since = now if known is None or is_news else known.since
        self._known[service] = _Known(ServiceState.DEGRADED, since, now, is_written=False)
        is_first = await self._write_trouble(service, storable(why, LONGEST_REASON), now)
        if is_first or (is_news and is_first is None):
            self._announce(ServiceDegraded(now, service, why[:LONGEST_REASON], FALLBACKS[service].fallback))

    async def works(self, service: Service) -> None:
        """The service answered as it should."""
        known = self._known.get(service)
        is_known = known is not None and known.state is ServiceState.WORKS
        if known is not None and is_known and (known.is_written or self._clock.now() - known.told_at < TOLD_AGAIN):
            return
        await self._restore(service, self._clock.now())

    def hear(self, happening: Happening) -> None:
        """The listener: the database cannot be told of its own trouble, so this process keeps it in mind."""
        if type(happening) is StoreTrouble:
            if Service.DATABASE not in self._known:
                self._known[Service.DATABASE] = _Known(
                    ServiceState.DEGRADED, happening.at, happening.at, is_written=False
                )
                instead = FALLBACKS[Service.DATABASE].fallback
                self._announce(ServiceDegraded(happening.at, Service.DATABASE, happening.detail, instead))
        elif type(happening) is StageDone:
            self._database_answered(happening.at)

    def _database_answered(self, now: datetime) -> None:
        """End the database's trouble: whatever it was, a query has been answered."""
        if (trouble := self._known.pop(Service.DATABASE, None)) is not None:
            self._announce(ServiceRestored(now, Service.DATABASE, trouble.since))

    async def statuses(self) -> list[ServiceStatus]:
        """How every service stands, as far as any process knows."""
        async with self._database.glance() as connection:
            rows = {row["service"]: row for row in (await connection.execute(_ALL)).mappings()}
        self._database_answered(self._clock.now())
        return [self._status(service, rows.get(service)) for service in Service]

    async def look_again(self) -> list[str]:
        """Ask every degraded service whether it answers again; answers the names of those that do.

        Some are asked whether they still answer, too. One that nobody can probe is given a new chance once the last
        complaint is old.
        """
        async with self._database.glance() as connection:
            rows = list((await connection.execute(_ALL)).mappings())
        ailing = [row for row in rows if row["state"] == ServiceState.DEGRADED and row["service"] in set(Service)]
        for service in self._always_probed - {Service(row["service"]) for row in ailing}:
            if why := await self._probes[service]():
                await self.degraded(service, why)
        return [row["service"] for row in ailing if await self._is_back(Service(row["service"]), row["seen_at"])]

    async def _is_back(self, service: Service, seen_at: datetime) -> bool:
        probe = self._probes.get(service)
        if probe is None:
            if not is_outdated(seen_at, self._clock.now(), FORGOTTEN_AFTER):
                return False
        elif why := await probe():
            await self.degraded(service, why)
            return False
        await self._restore(service, self._clock.now())
        return True

    def _status(self, service: Service, row: Any) -> ServiceStatus:
        if row is not None and row["state"] == ServiceState.DEGRADED:
            return degraded(service, row["since"], row["reason"])
        known = self._known.get(service)
        if known is not None and known.state is ServiceState.DEGRADED and not known.is_written:
            return degraded(service, known.since, "")
        if service in self._missing:
            return off(service, self._missing[service])
        return working(service, None if row is None else row["since"])

    async def _write_trouble(self, service: Service, why: str, now: datetime) -> bool | None:
        """Write the word down; True when it is news to everyone, None when the database cannot be told."""
        try:
            async with self._database.write() as connection:
                row = (await connection.execute(_ONE, {"b_service": service})).mappings().one_or_none()
                is_first = row is None or row["state"] != ServiceState.DEGRADED
                since = now if row is None or is_first else row["since"]
                values = {
                    "service": service,
                    "state": ServiceState.DEGRADED,
                    "since": since,
                    "reason": why,
                    "seen_at": now,
                }
                await connection.execute(self._put, [values])
        except StoreError:
            return None
        self._known[service] = _Known(ServiceState.DEGRADED, since, now, is_written=True)
        return is_first

    async def _restore(self, service: Service, now: datetime) -> None:
        """Write that it works, if anybody has written otherwise, and announce the end of a trouble that was known."""
        before = self._known.get(service)
        self._known[service] = _Known(ServiceState.WORKS, now, now, is_written=False)
        since = before.since if before is not None and before.state is ServiceState.DEGRADED else None
        try:
            since = await self._write_end(service, now) or since
        except StoreError:
            return
        self._known[service] = _Known(ServiceState.WORKS, now, now, is_written=True)
        if since is not None:
            self._announce(ServiceRestored(now, service, since))

    async def _write_end(self, service: Service, now: datetime) -> datetime | None:
        async with self._database.glance() as connection:
            row = (await connection.execute(_AILING, {"b_service": service})).mappings().one_or_none()
        if row is None:
            return None
        async with self._database.write() as connection:
            await connection.execute(_WORKS, {"b_service": service, "b_now": now})
        since: datetime = row["since"]
        return since


_ALL = select(service_status)
_ONE = select(service_status).where(service_status.c.service == bindparam("b_service")).with_for_update()
_AILING = select(service_status.c.since).where(
    service_status.c.service == bindparam("b_service"), service_status.c.state == ServiceState.DEGRADED
)
_WORKS = (
    update(service_status)
    .where(service_status.c.service == bindparam("b_service"), service_status.c.state == ServiceState.DEGRADED)
    .values(state=ServiceState.WORKS, since=bindparam("b_now"), seen_at=bindparam("b_now"), reason="")
)


def _upsert(database: Database) -> Any:
    statement = database.insert(service_status)
    fresh = {name: statement.excluded[name] for name in ("state", "since", "reason", "seen_at")}
    return statement.on_conflict_do_update(index_elements=["service"], set_=fresh)
