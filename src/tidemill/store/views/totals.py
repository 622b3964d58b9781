"""Everything in numbers, in a handful of statements."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views import Totals
from tidemill.store.schema import breakers, dead_letters, jobs, pages, runs, sources, targets
from tidemill.store.views.work import counted
from tidemill.verticals.events.store.tables import events
from tidemill.verticals.listings.store.tables import listings
from tidemill.verticals.prices.store.tables import source_products

VERDICTS = ("read", "accepted", "dropped", "quarantined", "inserted", "updated", "unchanged", "repeated",
            "seen_again", "removed")  # fmt: skip


async def totals(connection: AsyncConnection) -> Totals:
    """Count everything."""
    sums = [func.coalesce(func.sum(runs.c[f"records_{name}"]), 0) for name in VERDICTS]
    unchanged, *records = (
        await connection.execute(select(func.coalesce(func.sum(runs.c.pages_unchanged), 0), *sums))
    ).one()  # fmt: skip
    known = select(func.count(), func.count().filter(sources.c.enabled, ~sources.c.auto_disabled)).select_from(sources)
    listed = select(func.count(), func.count(events.c.gone_at)).select_from(events)
    homes = select(func.count(), func.count().filter(listings.c.is_active)).select_from(listings)
    goods = select(func.count(), func.count(source_products.c.gone_at)).select_from(source_products)
    sources_all, sources_on = (await connection.execute(known)).one()
    events_all, events_gone = (await connection.execute(listed)).one()
    homes_all, homes_listed = (await connection.execute(homes)).one()
    goods_all, goods_gone = (await connection.execute(goods)).one()
    return Totals(
        sources=sources_all,
        sources_on=sources_on,
        targets=(await connection.execute(select(func.count()).select_from(targets))).scalar_one(),
        pages=(await connection.execute(select(func.count()).select_from(pages))).scalar_one(),
        pages_unchanged=int(unchanged),
        records={name: int(count) for name, count in zip(VERDICTS, records, strict=True)},
        events_listed=events_all - events_gone,
        events_gone=events_gone,
        jobs=await counted(connection, jobs.c.status),
        runs=await counted(connection, runs.c.status),
        dead_letters=await counted(connection, dead_letters.c.status),
        breakers=await counted(connection, breakers.c.state),
        homes_listed=homes_listed,
        homes_gone=homes_all - homes_listed,
        products_sold=goods_all - goods_gone,
        products_gone=goods_gone,
    )
