"""Snapshots in Redis, beside the database: what is read from it is never older than what the database has."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.live.change import Provenance, ThingKey
from tidemill.core.snapshots.changes import KEPT_WHOLE, ThingLabels, ThingSnapshot
from tidemill.core.snapshots.shared_keys import HISTORY_KEPT, LIVE_KEPT, MISSING_KEPT, SharedNames
from tidemill.store.snapshots.redis_connection import RedisConnection

SECOND = timedelta(seconds=1)
NOT_THERE = -2
"""What Redis answers when it is asked for the life of a key that it does not have."""


class CachedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot as other programs find it in Redis; `normalized_payload` is the state, byte for byte."""

    id: str
    domain_id: str
    normalized_payload: msgspec.Raw
    created_at: datetime
    sequence_number: int
    provenance: Mapping[str, Provenance]
    checksum: str
    checked_at: datetime
    status: str
    group: str
    thing_id: int
    offset: int


class RedisSnapshots:
    """The newest snapshots and the last few of each thing, by vertical; while Redis is away there are none."""

    def __init__(self, redis: RedisConnection, names: Mapping[str, SharedNames]) -> None:
        """Keep the things of the verticals that have names for them."""
        self._redis = redis
        self._names = names

    async def latest_of(self, vertical: str, keys: Sequence[str]) -> dict[str, ThingSnapshot]:
        """Return what is kept of these things, by key."""
        names = self._names.get(vertical)
        if names is None or not keys:
            return {}
        found = await self._redis.ask(lambda client: client.mget([names.latest(key) for key in keys]))
        snapshots = [_snapshot(vertical, value) for value in found or () if value is not None]
        return {each.thing.key: each for each in snapshots if each is not None}

    async def put(
        self, found: Sequence[ThingSnapshot], histories: Mapping[ThingKey, Sequence[tuple[int, bytes]]]
    ) -> bool:
        """Keep snapshots with the last few before them; return whether they are kept."""

        async def write(client: Any) -> bool:
            pipeline = client.pipeline(transaction=True)
            for each in found:
                names = self._names[each.thing.vertical]
                value = _encoded(each)
                pipeline.set(names.latest(each.thing.key), value, ex=names.kept(each.labels.status) // SECOND)
                pipeline.delete(names.missing(each.thing.key))
                history = names.history(each.thing.key)
                pipeline.delete(history)
                before = [
                    _encoded(msgspec.structs.replace(each, seq=seq, encoded=state, checksum=""))
                    for seq, state in histories.get(each.thing, ())
                    if seq != each.seq
                ]
                pipeline.rpush(history, value, *before)
                pipeline.ltrim(history, 0, KEPT_WHOLE - 1)
                pipeline.expire(history, HISTORY_KEPT // SECOND)
            await pipeline.execute()
            return True

        kept = [each for each in found if each.thing.vertical in self._names]
        return bool(await self._redis.ask(write)) if kept else True

    async def keep_alive(self, things: Sequence[ThingKey]) -> list[ThingKey] | None:
        """Keep the snapshots of live things a while longer: they were just checked. Return those that are not there.

        None when Redis is away.
        """
        known = [thing for thing in things if thing.vertical in self._names]

        names = {thing: self._names[thing.vertical].latest(thing.key) for thing in known}

        async def touch(client: Any) -> list[ThingKey]:
            asked = client.pipeline(transaction=False)
            for name in names.values():
                asked.ttl(name)
            left = dict(zip(known, await asked.execute(), strict=True))
            kept = client.pipeline(transaction=False)
            for thing, seconds in left.items():
                if 0 <= seconds <= LIVE_KEPT // SECOND:  # what is over has a longer life already
                    kept.expire(names[thing], LIVE_KEPT // SECOND)
            await kept.execute()
            return [thing for thing, seconds in left.items() if seconds == NOT_THERE]

        found: list[ThingKey] | None = await self._redis.ask(touch) if known else []
        return found

    async def is_missing(self, vertical: str, key: str) -> bool:
        """Return whether any machine found out within the last minute that there is no such thing."""
        names = self._names.get(vertical)
        return names is not None and bool(await self._redis.ask(lambda client: client.exists(names.missing(key))))

    async def note_missing(self, vertical: str, key: str) -> None:
        """Let other machines know that there is no such thing."""
        if (names := self._names.get(vertical)) is not None:
            kept = MISSING_KEPT // SECOND
            await self._redis.ask(lambda client: client.set(names.missing(key), b"1", ex=kept))


def _encoded(found: ThingSnapshot) -> bytes:
    return msgspec.json.encode(
        CachedSnapshot(
            id=found.thing.key,
            domain_id=found.source,
            normalized_payload=msgspec.Raw(found.encoded),
            created_at=found.changed_at,
            sequence_number=found.seq,
            provenance=found.provenance,
            checksum=found.checksum,
            checked_at=found.checked_at,
            status=found.labels.status,
            group=found.labels.group,
            thing_id=found.thing_id,
            offset=found.offset,
        )
    )


def _decoded(value: bytes) -> CachedSnapshot | None:
    """Return what is kept under a key; None for what somebody else put there."""
    try:
        return msgspec.json.decode(value, type=CachedSnapshot)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _snapshot(vertical: str, value: bytes) -> ThingSnapshot | None:
    kept = _decoded(value)
    if kept is None:
        return None
    return ThingSnapshot(
        thing=ThingKey(vertical, kept.id),
        thing_id=kept.thing_id,
        seq=kept.sequence_number,
        offset=kept.offset,
        encoded=bytes(kept.normalized_payload),
        checksum=kept.checksum,
        changed_at=kept.created_at,
        checked_at=kept.checked_at,
        labels=ThingLabels(kept.status, kept.group),
        source=kept.domain_id,
        provenance=kept.provenance,
    )
