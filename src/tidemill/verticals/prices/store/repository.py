"""The repository of prices: products upserted by identity, prices appended, one transaction per batch."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.run import RunStatus
from tidemill.core.views.past import RETURNED
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.store.database.keys import Ids
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.store.records.repository import CompleteRun
from tidemill.verticals.prices.reasons import DropReason, QuarantineReason
from tidemill.verticals.prices.store import writes as price_writes
from tidemill.verticals.prices.store.items import (
    SOLD_OUT,
    OfferItem,
    Read,
    Row,
    SortedOffers,
    has_changed,
    items_of,
    price_row,
    revived,
    sort_out,
    tally,
)
from tidemill.verticals.prices.store.resolver import resolve
from tidemill.verticals.prices.store.sequence import next_changes

VERTICAL = "prices"
CONFIRMED_AT_ONCE = 4
"""Held prices that one unchanged page confirms; of a list that holds more, the rest wait for the next look."""
SHELF_POSITION = 1_000_000
"""Where the positions of records begin that the repository itself turned away, after those of the rules."""

_TWICE = "the run has brought this product already"

Priced = tuple[int, int, OfferItem, Row | None]
"""The keys of a price and of its product, the offer, and the product's row as it was."""


class PriceRepository:
    """Where accepted offers end up."""

    vertical = VERTICAL

    def __init__(self, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._ids = ids

    async def put(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Upsert products, append their prices, link them; hold what looks like a glitch, once per run each."""
        done = await self._sorted(connection, harvests, sort_out)
        await self._publish(connection, done, now)
        await self._turn_away(connection, done, now)
        sold_out = await price_writes.sell_out(connection, harvests, now)
        lines = [HistoryLine(record_id=key, kind=SOLD_OUT, run_id=job.run_id) for key, job in sold_out]
        await write_history(connection, self._ids, VERTICAL, lines, now)
        return tally(harvests, done)

    async def put_released(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """The same for what a person has looked at: their word is the second reading, and nothing is held."""
        done = await self._sorted(connection, harvests, partial(sort_out, guarded=False))
        await self._publish(connection, done, now)
        return tally(harvests, done)

    async def _sorted(
        self,
        connection: AsyncConnection,
        harvests: Sequence[tuple[Job, AcceptedRecords]],
        decide: Callable[[Sequence[OfferItem], Mapping[tuple[int, str], Row], Read], SortedOffers],
    ) -> SortedOffers:
        items = sorted(items_of(harvests), key=lambda item: item.key)
        known = await price_writes.known_products(connection, [item.key for item in items])
        read = await price_writes.priced_by(connection, {item.job.run_id for item in items if item.key in known})
        return decide(items, known, read)

    async def stored(self, connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
        """The records of a source under these identities, as JSON."""
        return await price_writes.stored_offers(connection, source_id, identities)

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Everything on a page that did not change was seen again, which confirms a price that was held."""
        held = await price_writes.held_products(connection, source_id, identities, CONFIRMED_AT_ONCE, now)
        if held:
            await self._publish(connection, SortedOffers([], [(revived(row, now), row) for row in held], [], []), now)
        return await price_writes.seen_again(connection, source_id, identities, now)

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> dict[int, int]:
        """Count complete runs against what they did not see; after `patience` of them in a row it is gone."""
        gone = {
            each.run_id: await price_writes.missed(connection, each.source_id, each.since, patience, now)
            for each in over
        }
        lines = [
            HistoryLine(record_id=key, kind="gone", run_id=run_id) for run_id, keys in gone.items() for key in keys
        ]
        await write_history(connection, self._ids, VERTICAL, lines, now)
        return {run_id: len(keys) for run_id, keys in gone.items()}

    async def close_run(self, connection: AsyncConnection, scope: str, status: RunStatus, now: datetime) -> None:
        """Nothing but its records hangs on a run's end."""

    async def _publish(self, connection: AsyncConnection, done: SortedOffers, now: datetime) -> None:
        fresh: list[tuple[int, OfferItem, Row | None]] = [(self._ids.take(), item, None) for item in done.new]
        fresh += [(row["id"], item, row) for item, row in done.known]
        if not fresh:
            return
        priced: list[Priced] = [(self._ids.take(), key, item, row) for key, item, row in fresh]
        await self._note_changes(connection, done.known, now)
        await price_writes.upsert_products(connection, priced, now)
        await price_writes.name_products(connection, priced, now)
        await price_writes.settle_held(connection, done.known, now)
        await self._append(connection, priced)
        await resolve(connection, self._ids, [(product, item.offer, row) for _, product, item, row in priced], now)

    async def _append(self, connection: AsyncConnection, priced: Sequence[Priced]) -> None:
        """Append the prices; those that tell readers something new are numbered in the order of their commits."""
        told = [has_changed(item.offer, row) for _, _, item, row in priced]
        numbers = await next_changes(connection, sum(told))
        await price_writes.append_prices(
            connection,
            [
                price_row(key, product, item, row, next(numbers) if new else None)
                for (key, product, item, row), new in zip(priced, told, strict=True)
            ],
        )

    async def _note_changes(
        self, connection: AsyncConnection, known: Sequence[tuple[OfferItem, Row]], now: datetime
    ) -> None:
        """Keep as history what changed about a product besides its price, which has a history of its own."""
        changed = {
            row["id"]: (item, row)
            for item, row in known
            if row["checksum"] != item.checksum or row["gone_at"] is not None
        }
        before = await price_writes.records_of(connection, sorted(changed))
        lines = [
            HistoryLine(
                record_id=key,
                kind="changed" if row["gone_at"] is None else RETURNED,
                run_id=item.job.run_id,
                page_id=item.page_id,
                changes=price_writes.differences(before[key], item),
            )
            for key, (item, row) in changed.items()
        ]
        await write_history(connection, self._ids, VERTICAL, lines, now)

    async def _turn_away(self, connection: AsyncConnection, done: SortedOffers, now: datetime) -> None:
        """Write down what was not published and why; what is held waits on its product's row too."""
        rows = [
            self._rejection(item, "dropped", DropReason.DUPLICATE_WITHIN_RUN, _TWICE, now) for item in done.repeated
        ]
        held = [
            (self._rejection(item, "quarantined", QuarantineReason.DRIFT_DETECTED, doubt, now), item, row)
            for item, row, doubt in done.held
        ]
        await price_writes.reject(connection, rows + [rejection for rejection, _, _ in held])
        await price_writes.settle_held(connection, [(item, row) for _, item, row in held], now)
        await price_writes.hold(connection, [(rejection["id"], item, row) for rejection, item, row in held], now)

    def _rejection(self, item: OfferItem, verdict: str, reason: str, detail: str, now: datetime) -> dict[str, Any]:
        return {
            "id": self._ids.take(),
            "job_id": item.job.id,
            "run_id": item.job.run_id,
            "source_id": item.job.source_id,
            "page_id": item.page_id,
            "position": SHELF_POSITION + item.position,
            "vertical": VERTICAL,
            "verdict": verdict,
            "reason": reason,
            "detail": detail,
            "raw": {"identity": item.offer.identity_key, "record": msgspec.to_builtins(item.offer)},
            "created_at": now,
        }
