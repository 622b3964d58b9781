"""Markets as rows: listed, added, changed; and as targets of every source that covers markets."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, update

from tidemill.core.audit import AuditEntry
from tidemill.core.source import Source, foreign_target
from tidemill.core.target import Target, TargetStatus
from tidemill.core.urls import BadUrl, canonicalize, registrable_domain
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import jobs, runs, targets
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository, Wanted
from tidemill.store.upkeep.audit import take_keys, write_audit
from tidemill.verticals.listings.market import AREA_ENDS, BROKEN_AFTER, MARKETS, TEMPLATE, Market, covers, filled
from tidemill.verticals.listings.store.tables import listings, market_configs

VERTICAL = "listings"
SPOKEN_OF = ("schedule", "enabled", "scope", "parameters")


CREATED_BY = "markets"
_LAID_OUT = select(targets.c.id).where(targets.c.created_by == CREATED_BY, targets.c.enabled)


class Markets:
    """Where markets are kept."""

    def __init__(self, database: Database, ids: Ids, sources: SourceRepository, targets: TargetRepository) -> None:
        """Targets are written through their own repository."""
        self._database = database
        self._ids = ids
        self._sources = sources
        self._targets = targets

    async def every(self) -> list[Market]:
        """All markets, the hot ones first."""
        order = {"hot": 0, "standard": 1, "cool": 2}
        async with self._database.read() as connection:
            rows = (await connection.execute(select(market_configs))).mappings().all()
        return sorted(map(market_of, rows), key=lambda one: (order.get(one.tier, 3), one.id))

    async def find(self, market_id: str) -> Market | None:
        """A market by its id."""
        query = select(market_configs).where(market_configs.c.id == market_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        return market_of(row) if row is not None else None

    async def add(self, market: Market, now: datetime, audit: Sequence[AuditEntry] = ()) -> bool:
        """Insert a new one; False if its id is taken."""
        keys = await take_keys(self._ids, len(audit))
        statement = self._database.insert(market_configs).on_conflict_do_nothing(index_elements=["id"])
        async with self._database.write() as connection:
            row = {"id": market.id, **columns_of(market), "created_at": now}
            added = (await connection.execute(statement.returning(market_configs.c.id), [row])).first()
            if added is not None:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return added is not None

    async def change(self, market: Market, now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Write what a person decided about a market."""
        keys = await take_keys(self._ids, len(audit))
        change = update(market_configs).where(market_configs.c.id == market.id).values(**columns_of(market))
        async with self._database.write() as connection:
            await connection.execute(change)
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def homes_of(self, market_id: str) -> int:
        """How many homes are kept of a market, whatever became of them."""
        query = select(func.count()).select_from(listings).where(listings.c.market_id == market_id)
        async with self._database.read() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def remove(self, market_id: str, now: datetime, audit: Sequence[AuditEntry] = ()) -> bool:
        """Delete a market unless a home belongs to it by now; False if nothing was deleted."""
        keys = await take_keys(self._ids, len(audit))
        belongs = select(listings.c.id).where(listings.c.market_id == market_id).exists()
        statement = delete(market_configs).where(market_configs.c.id == market_id, ~belongs)
        async with self._database.write() as connection:
            removed = (await connection.execute(statement.returning(market_configs.c.id))).first()
            if removed is not None:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return removed is not None

    async def create_targets(self, now: datetime) -> int:
        """Make sure that every source that covers markets has a target for each; answers how many were changed.

        A target whose address is no longer that of its market, because the city or the template changed, is left alone.
        """
        markets = await self.every()
        wanted: list[Wanted] = []
        for source in await self._sources.every(vertical=VERTICAL):
            wanted += [(target, SPOKEN_OF) for target in targets_of(source, markets)]
        done = await self._targets.upsert(wanted, now) if wanted else {}
        retired = await self._retire({key for key, _ in done.values()}, now)
        return retired + sum(change != "unchanged" for _, change in done.values())

    async def _retire(self, laid_out: Collection[int], now: datetime) -> int:
        """Switch targets off that were laid out once and are no market's address now; answers how many."""
        async with self._database.read() as connection:
            ours = set((await connection.execute(_LAID_OUT)).scalars())
        if not (over := sorted(ours - set(laid_out))):
            return 0
        off = update(targets).where(targets.c.id.in_(over)).values(enabled=False, updated_at=now)
        async with self._database.write() as connection:
            await connection.execute(off)
        return len(over)

    async def targets_of(self, market_id: str) -> list[int]:
        """The keys of a market's targets that are switched on."""
        query = select(targets.c.id).where(targets.c.scope == market_id, targets.c.enabled).order_by(targets.c.id)
        async with self._database.read() as connection:
            return list((await connection.execute(query)).scalars())

    async def reset_breakers(self, now: datetime) -> int:
        """Give every market that was left alone its fresh try, and every address in one that seemed broken.

        A market's search page is no product page that may be gone for good: a week without it would hide all its homes.
        Answers how many markets got it.
        """
        left_alone = update(market_configs).where(market_configs.c.consecutive_failures >= BROKEN_AFTER)
        async with self._database.write() as connection:
            reset = left_alone.values(consecutive_failures=0).returning(market_configs.c.id)
            freed = list((await connection.execute(reset)).scalars())
            broken = and_(targets.c.scope != "", targets.c.status == TargetStatus.BROKEN.value)
            fresh = {"next_due_at": now, "status": TargetStatus.ACTIVE.value, "consecutive_failures": 0}
            await connection.execute(update(targets).where(or_(targets.c.scope.in_(freed), broken)).values(**fresh))
        return len(freed)

    async def jobs_since(self, since: datetime) -> dict[str, int]:
        """How many jobs each market got since then: what proof of work compares with the schedule."""
        query = (
            select(targets.c.scope, func.count())
            .select_from(jobs.join(targets, targets.c.id == jobs.c.target_id))
            .where(jobs.c.created_at >= since, jobs.c.vertical == VERTICAL, targets.c.scope != "")
            .where(jobs.c.page_number == 1)
            .group_by(targets.c.scope)
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def covered(self) -> dict[str, int]:
        """How many targets that are switched on each market has."""
        query = (
            select(targets.c.scope, func.count())
            .where(targets.c.scope != "", targets.c.enabled)
            .group_by(targets.c.scope)
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def sizes(self, since: datetime) -> dict[str, int]:
        """How many homes each market's sites said to have since then, at the most."""
        query = (
            select(runs.c.scope, func.max(runs.c.claimed_total))
            .where(runs.c.vertical == VERTICAL, runs.c.claimed_total.is_not(None), runs.c.started_at >= since)
            .group_by(runs.c.scope)
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}


def targets_of(source: Source, markets: Sequence[Market]) -> list[Target]:
    """A source's target in every market; none if it covers no markets or its template makes no address."""
    template = source.adapter_settings.get(TEMPLATE)
    if not isinstance(template, str):
        return []
    found = []
    for market in markets:
        if not covers(source.adapter_settings.get(MARKETS), market):
            continue
        url = filled(template, market)
        try:
            canonical, host = canonicalize(url), registrable_domain(url)
        except BadUrl:
            continue
        if foreign_target(url, source) is not None:
            continue
        found.append(
            Target(
                id=0,
                source_id=source.id,
                url=url,
                canonical_url=canonical,
                host=host,
                adapter_id=source.adapter_id,
                schedule=f"every {market.every // timedelta(hours=1)}h",
                enabled=market.enabled,
                scope=market.id,
                parameters=market.parameters,
                created_by=CREATED_BY,
            )
        )
    return found


def market_of(row: Any) -> Market:
    """A market from its row."""
    return Market(
        id=row["id"],
        display_name=row["display_name"],
        city=row["city"],
        state=row["state"],
        country=row["country"],
        currency=row["currency"],
        area=tuple(filter(None, row["area"].split(AREA_ENDS))),
        tier=row["tier"],
        enabled=row["is_enabled"],
        max_listings=row["max_listings_per_scrape"],
        frequency_hours=row["scrape_frequency_hours"],
        last_scrape_at=row["last_scrape_at"],
        last_scrape_status=row["last_scrape_status"],
        consecutive_failures=row["consecutive_failures"],
        created_at=row["created_at"],
    )


def columns_of(market: Market) -> dict[str, Any]:
    """The columns that hold what people decide about a market."""
    return {
        "display_name": market.display_name,
        "city": market.city,
        "state": market.state,
        "country": market.country,
        "currency": market.currency,
        "area": AREA_ENDS.join(market.area),
        "tier": market.tier,
        "is_enabled": market.enabled,
        "max_listings_per_scrape": market.max_listings,
        "scrape_frequency_hours": market.frequency_hours,
    }
