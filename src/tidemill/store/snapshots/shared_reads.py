"""Snapshots from Redis where it has the newest ones, else from the database; with the database away, from Redis."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.pipeline.ports import StoreError
from tidemill.store.snapshots.reads import PastState, SnapshotReads
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots


class SharedReads:
    """Reads like `SnapshotReads`; the database says which snapshot is the newest, so that no older one is served."""

    def __init__(self, inner: SnapshotReads, shared: RedisSnapshots) -> None:
        """Read from `shared` first."""
        self._inner = inner
        self._shared = shared

    async def latest_of(self, vertical: str, keys: Sequence[str]) -> list[ThingSnapshot]:
        """Return the newest snapshot of each of the things that has one."""
        try:
            heads = await self._inner.heads_of(vertical, keys)
        except StoreError:
            kept = await self._shared.latest_of(vertical, keys)
            if len(kept) < len(keys):
                raise
            return [kept[key] for key in sorted(kept)]
        kept = await self._shared.latest_of(vertical, list(heads))
        found = [
            msgspec.structs.replace(kept[key], checked_at=head.checked_at)
            for key, head in heads.items()
            if key in kept and (kept[key].seq, kept[key].checksum) == (head.seq, head.checksum)
        ]
        others = sorted(heads.keys() - {each.thing.key for each in found})
        if others:
            read = await self._inner.latest_of(vertical, others)
            await self._shared.put(
                read, {each.thing: await self._inner.history(vertical, each.thing.key) for each in read}
            )
            found += read
        return sorted(found, key=lambda each: each.thing.key)

    async def logged_after(
        self, offset: int, limit: int, vertical: str | None = None, things: Sequence[int] | None = None
    ) -> list[LoggedChange]:
        """Return the entries of the log after an offset, from the database."""
        return await self._inner.logged_after(offset, limit, vertical, things)

    async def listed(
        self, vertical: str, *, status: str | None, group: str | None, after: str, limit: int
    ) -> list[ThingSnapshot]:
        """Return the newest snapshots by key, from the database."""
        return await self._inner.listed(vertical, status=status, group=group, after=after, limit=limit)

    async def states_at(self, things: Sequence[int], moment: datetime) -> dict[int, PastState]:
        """Return the state that each thing had at a moment; those without one are left out."""
        return await self._inner.states_at(things, moment)

    async def is_missing(self, vertical: str, key: str) -> bool:
        """Return whether any machine found out within the last minute that there is no such thing."""
        return await self._shared.is_missing(vertical, key)

    async def note_missing(self, vertical: str, key: str) -> None:
        """Let other machines know that there is no such thing."""
        await self._shared.note_missing(vertical, key)
