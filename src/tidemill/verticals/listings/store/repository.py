"""The repository of homes: one row per home however many sources show it, with a sighting for each."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.identity import signed_checksum
from tidemill.core.job import Job
from tidemill.core.page import Page
from tidemill.core.run import RunStatus
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.store.database.keys import Ids
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.records.changes import write_changes
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.store.records.repository import CompleteRun
from tidemill.store.records.seen import Seen, note_seen
from tidemill.verticals.listings.dedupe import Index, KnownListing
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.store import lookups, writes
from tidemill.verticals.listings.store.home_changes import home_lines, write_endings
from tidemill.verticals.listings.store.market_runs import settle_market
from tidemill.verticals.listings.store.merging import MergedListing, Sighting, merge_sightings
from tidemill.verticals.listings.store.tables import LISTINGS_LOCK

VERTICAL = "listings"


class ListingItem(msgspec.Struct, frozen=True, eq=False):
    """A listing on its way to the repository, encoded once."""

    job: Job
    page: Page
    identity: str
    listing: Listing
    encoded: bytes
    checksum: int

    @property
    def own_address(self) -> str:
        """Where the home can be looked up; '' if it has no page but the list it is on, which proves nothing of it."""
        address = self.listing.url
        return "" if address.partition("#")[0] in {self.page.url, self.page.final_url} else address


class Placed(msgspec.Struct, eq=False):
    """Where an item belongs: its home's key, whether that is new, and its sighting if it was seen before."""

    item: ListingItem
    home: int
    is_new: bool = False
    sighting: lookups.SightingRow | None = None

    @property
    def is_changed(self) -> bool:
        """Whether the source says something else than last time, or shows it again after it was gone."""
        seen = self.sighting
        return seen is None or seen.checksum != self.item.checksum or seen.is_gone


class ListingRepository:
    """Where accepted listings end up."""

    vertical = VERTICAL

    def __init__(self, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._ids = ids

    async def put(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Insert new homes, note every sighting, and bring each home up to what its sources say now."""
        await lock_exclusively(connection, LISTINGS_LOCK)
        items = list(unique(harvests))
        placed = await self._place(connection, items)
        await self._write_new(connection, [each for each in placed if each.is_new], now)
        await self._write_sightings(connection, placed, now)
        changed = sorted({each.home for each in placed if each.is_changed})
        homes = sorted({each.home for each in placed})
        before = await writes.mark_seen(connection, homes, now)
        await note_seen(connection, self._ids.take(), VERTICAL, Seen.SHOWN, homes, now)
        await self._renew(connection, changed, placed, before, now)
        return tally(harvests, placed)

    async def stored(self, connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
        """The records of a source under these identities, as JSON."""
        return await lookups.stored_sightings(connection, source_id, identities)

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Everything on a page that did not change was seen again; answers how many."""
        await lock_exclusively(connection, LISTINGS_LOCK)
        homes = await writes.touch_sightings(connection, source_id, identities, now)
        await writes.mark_seen(connection, homes, now)
        await note_seen(connection, self._ids.take(), VERTICAL, Seen.SHOWN, homes, now)
        return len(homes)

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> dict[int, int]:
        """Count complete runs against what they did not see; answers by run how many homes are gone for good.

        A home is gone when no source shows it any more, and nobody who looked it up since found it still there.
        """
        await lock_exclusively(connection, LISTINGS_LOCK)
        gone = {each.run_id: await self._miss(connection, each, now, patience) for each in over}
        lines = [
            HistoryLine(record_id=key, kind="gone", run_id=run_id) for run_id, keys in gone.items() for key in keys
        ]
        await write_history(connection, self._ids, VERTICAL, lines, now)
        await write_endings(connection, [(line.record_id, "gone") for line in lines], now)
        return {run_id: len(keys) for run_id, keys in gone.items()}

    async def close_run(self, connection: AsyncConnection, scope: str, status: RunStatus, now: datetime) -> None:
        """Write the end of a market's run into its row."""
        await settle_market(connection, scope, status, now)

    async def _miss(
        self, connection: AsyncConnection, over: CompleteRun, now: datetime, patience: int
    ) -> Sequence[int]:
        homes = await writes.miss_sightings(connection, over.source_id, over.run_id, over.since, now, patience)
        return await writes.end_unshown(connection, homes, now)

    async def _place(self, connection: AsyncConnection, items: Sequence[ListingItem]) -> list[Placed]:
        """Find each item's home: by its sighting, by its door, by likeness; or give it a new one."""
        seen = await lookups.sightings(connection, [(item.job.source_id, item.identity) for item in items])
        placed = []
        strangers: list[ListingItem] = []
        for item in items:
            sighting = seen.get((item.job.source_id, item.identity))
            if sighting is None:
                strangers.append(item)
            else:
                placed.append(Placed(item, sighting.listing_id, sighting=sighting))
        if strangers:
            placed += await self._place_strangers(connection, strangers)
        return placed

    async def _place_strangers(self, connection: AsyncConnection, strangers: Sequence[ListingItem]) -> list[Placed]:
        """Find homes by what they are; two that a source numbers apart are two, be they new in the same batch."""
        homes, shown_by = await lookups.candidates(connection, [item.listing for item in strangers])
        repositories: dict[int, Index] = {}
        batch = Index()
        named: set[tuple[int, int]] = set()
        placed = []
        for item in strangers:
            source = item.job.source_id
            if source not in repositories:
                repositories[source] = Index(home for home in homes if source not in shown_by.get(home.key, ()))
            same = repositories[source].find(item.listing) or batch.find(item.listing)
            is_new = same is None or (bool(item.listing.own_id) and (source, same.key) in named)
            if same is None or is_new:
                same = KnownListing(self._ids.take(), item.listing)
                batch.add(same)
            if item.listing.own_id:
                named.add((source, same.key))
            placed.append(Placed(item, same.key, is_new=is_new))
        return placed

    async def _write_new(self, connection: AsyncConnection, new: Sequence[Placed], now: datetime) -> None:
        if new:
            homes = [MergedListing.of(each.home, each.item.listing, each.item.encoded) for each in new]
            await writes.insert_homes(connection, homes, now)

    async def _write_sightings(self, connection: AsyncConnection, placed: Sequence[Placed], now: datetime) -> None:
        rows = [(each, self._sighting(each)) for each in placed]
        await writes.insert_sightings(connection, [row for each, row in rows if each.sighting is None], now)
        await writes.update_sightings(connection, [row for each, row in rows if each.sighting and each.is_changed], now)
        same = [row.id for each, row in rows if each.sighting and not each.is_changed]
        await writes.see_sightings(connection, same, now)

    def _sighting(self, placed: Placed) -> Sighting:
        item = placed.item
        return Sighting(
            id=placed.sighting.id if placed.sighting else self._ids.take(),
            listing_id=placed.home,
            source_id=item.job.source_id,
            identity=item.identity,
            market_id=item.listing.market_id,
            url=item.own_address,
            checksum=item.checksum,
            record=item.encoded,
            page_id=item.page.id,
        )

    async def _renew(
        self,
        connection: AsyncConnection,
        homes: Sequence[int],
        placed: Sequence[Placed],
        before: Mapping[int, writes.Before],
        now: datetime,
    ) -> None:
        """Bring homes up to what their sources say now; a rent that moved is kept as history and shown."""
        if not homes:
            return
        origin = {each.home: each.item for each in placed}
        made = merge_sightings(await lookups.shown_sightings(connection, homes))
        history = []
        for home in made:
            was, item = before[home.id], origin[home.id]
            kind, changes = writes.difference(was, home)
            if kind:
                run, page = item.job.run_id, item.page.id
                history.append(HistoryLine(record_id=home.id, kind=kind, run_id=run, page_id=page, changes=changes))
        await writes.update_homes(connection, made, before, now)
        await write_history(connection, self._ids, VERTICAL, history, now)
        new = {each.home for each in placed if each.is_new}
        await write_changes(connection, VERTICAL, home_lines(made, new, before), now)


def unique(harvests: Sequence[tuple[Job, AcceptedRecords]]) -> Iterable[ListingItem]:
    """Each identity of a source once, however many pages of the batch show it."""
    seen: set[tuple[int, str]] = set()
    for job, harvest in harvests:
        for accepted in harvest.records:
            key = (job.source_id, accepted.identity)
            if key not in seen:
                seen.add(key)
                encoded = accepted.encoded
                yield ListingItem(
                    job, harvest.judged.page, accepted.identity, accepted.record, encoded, signed_checksum(encoded)
                )


def tally(harvests: Sequence[tuple[Job, AcceptedRecords]], placed: Sequence[Placed]) -> dict[int, WriteCounts]:
    """The counts per job: new homes, those of which something changed, and the rest."""
    inserted: dict[int, int] = {}
    updated: dict[int, int] = {}
    for each in placed:
        if each.is_new:
            inserted[each.item.job.id] = inserted.get(each.item.job.id, 0) + 1
        elif each.is_changed:
            updated[each.item.job.id] = updated.get(each.item.job.id, 0) + 1
    return {job.id: _kept(job, harvest, inserted, updated) for job, harvest in harvests}


def _kept(job: Job, harvest: AcceptedRecords, inserted: Mapping[int, int], updated: Mapping[int, int]) -> WriteCounts:
    new, changed = inserted.get(job.id, 0), updated.get(job.id, 0)
    return WriteCounts(new, changed, len(harvest.records) - new - changed)
