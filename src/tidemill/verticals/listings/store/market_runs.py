"""What a run's end means for its market: when it was scraped, how that went, and whether it is left alone."""

from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.run import RunStatus
from tidemill.store.database.column_types import Timestamp
from tidemill.store.schema import sources, targets
from tidemill.verticals.listings.market import BROKEN_AFTER
from tidemill.verticals.listings.store.tables import market_configs

A_DAY = timedelta(days=1)
WORDS = {
    RunStatus.SUCCESS: "completed",
    RunStatus.PARTIAL: "partial",
    RunStatus.FAILED: "failed",
    RunStatus.QUARANTINED: "quarantined",
}
"""How a market's last scrape ended, as `market_configs` says it."""

_now = bindparam("b_now", type_=Timestamp())
_ROUNDS = (
    select(func.min(targets.c.consecutive_failures))
    .select_from(targets.join(sources, sources.c.id == targets.c.source_id))
    .where(targets.c.scope == bindparam("b_market"), targets.c.enabled, sources.c.enabled, ~sources.c.auto_disabled)
    .scalar_subquery()
)
"""Rounds in a row in which every source of a market failed: one bad hour of three sources is one failure, not three."""
_failed = func.coalesce(_ROUNDS, market_configs.c.consecutive_failures + 1)
_SETTLE = (
    update(market_configs)
    .where(market_configs.c.id == bindparam("b_market"))
    .values(
        last_scrape_at=case((bindparam("b_brought"), _now), else_=market_configs.c.last_scrape_at),
        last_scrape_status=bindparam("b_words"),
        consecutive_failures=case((bindparam("b_failed"), _failed), else_=0),
    )
    .returning(market_configs.c.consecutive_failures)
)
_LEAVE_ALONE = (
    update(targets)
    .where(targets.c.scope == bindparam("b_market"))
    .where(targets.c.next_due_at < bindparam("b_until"))
    .values(next_due_at=bindparam("b_until"))
)


async def settle_market(connection: AsyncConnection, market: str, status: RunStatus, now: datetime) -> None:
    """Write the end of a market's run down; after three failures in a row it gets one fresh try a day.

    `last_scrape_at` is when a scrape last brought something: failures leave it, and so does a run of which every home
    was set aside, so that a market nobody gets anything from is overdue. A run that was refused leaves all as it was.
    """
    if not market or status not in WORDS:
        return
    failed = status is RunStatus.FAILED
    brought = not failed and status is not RunStatus.QUARANTINED
    said = {"b_market": market, "b_now": now, "b_words": WORDS[status], "b_failed": failed, "b_brought": brought}
    failures = (await connection.execute(_SETTLE, said)).scalar()
    if failures is not None and failures >= BROKEN_AFTER:
        await connection.execute(_LEAVE_ALONE, {"b_market": market, "b_until": now + A_DAY})
