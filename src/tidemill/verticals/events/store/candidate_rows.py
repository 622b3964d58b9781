"""The keys that events are found by when another source's record of the same one is looked for, as rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.batches import portions, write_each
from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.hot_statements import HotRows
from tidemill.verticals.events.candidates import MOST_UNDER_ONE_KEY, Lookup
from tidemill.verticals.events.store.tables import event_candidates

_LOOKUPS_AT_ONCE = 2_000
_FOUND = (
    "SELECT c.event_id, c.source_id FROM event_candidates c WHERE c.key = {0} AND c.minute BETWEEN {1} AND {2}"  # noqa: S608 - only words of ours
    f" ORDER BY c.minute, c.event_id LIMIT {MOST_UNDER_ONE_KEY}"
)
_FOUND_SQLITE = _FOUND.format(*(f"json_extract(k.value, '$[{at}]')" for at in range(3)))
_FIND_SQLITE = text(
    "SELECT k.key AS place, (SELECT group_concat(f.event_id || ' ' || f.source_id)"  # noqa: S608 - only words of ours
    f" FROM ({_FOUND_SQLITE}) f) AS found FROM json_each(:lookups) k"
)
_FOUND_POSTGRES = _FOUND.format("k.key", "k.first", "k.last")
_FIND_POSTGRES = text(
    "SELECT k.place - 1 AS place, f.event_id, f.source_id"  # noqa: S608 - only words of ours
    " FROM unnest(CAST(:keys AS bigint[]), CAST(:first AS bigint[]), CAST(:last AS bigint[]))"
    f" WITH ORDINALITY AS k(key, first, last, place) CROSS JOIN LATERAL ({_FOUND_POSTGRES}) f"
)
_USED_SQLITE = text(
    "SELECT k.value AS key FROM json_each(:keys) k"
    " WHERE EXISTS (SELECT 1 FROM event_candidates c WHERE c.key = k.value)"
)
_USED_POSTGRES = text(
    "SELECT k.key FROM unnest(CAST(:keys AS bigint[])) AS k(key)"
    " WHERE EXISTS (SELECT 1 FROM event_candidates c WHERE c.key = k.key)"
)
_INSERT = HotRows(
    "event_candidates.insert",
    codecs_of(event_candidates, "key", "minute", "event_id", "source_id"),
    "INSERT INTO event_candidates ({columns}) {rows} ON CONFLICT DO NOTHING",
)
_DROP = delete(event_candidates).where(
    *(event_candidates.c[name] == bindparam(f"b_{name}") for name in ("key", "minute", "event_id"))
)

Found = tuple[int, int]
"""An event's key, and its source's."""


class Keyed(msgspec.Struct, frozen=True):
    """The keys that an event stands under, and its minute, as its link remembers them."""

    minute: int
    keys: tuple[int, ...]

    @property
    def text(self) -> str:
        """The keys as a column holds them."""
        return " ".join(map(str, self.keys))


NO_KEYS = Keyed(0, ())


def keyed_before(row: Mapping[Any, Any]) -> Keyed:
    """The keys that an event stands under so far, by its link; none if it has no link."""
    return NO_KEYS if row["keys"] is None else Keyed(row["minute"], tuple(map(int, row["keys"].split())))


async def used_keys(connection: AsyncConnection, keys: Iterable[int]) -> set[int]:
    """Those of these keys under which any event stands: nearly always a few, and only they are looked under."""
    sqlite = connection.dialect.name == "sqlite"
    used: set[int] = set()
    for some in portions(sorted(keys), _LOOKUPS_AT_ONCE):
        asked = msgspec.json.encode(some).decode() if sqlite else some
        rows = await connection.execute(_USED_SQLITE if sqlite else _USED_POSTGRES, {"keys": asked})
        used.update(rows.scalars())
    return used


async def find(connection: AsyncConnection, lookups: Sequence[Lookup]) -> dict[Lookup, list[Found]]:
    """What is known under each of these, the first few each; where there is nothing, there is no entry."""
    found: dict[Lookup, list[Found]] = {}
    for some in portions(lookups, _LOOKUPS_AT_ONCE):
        if connection.dialect.name == "sqlite":
            found |= await _find_on_sqlite(connection, some)
        else:
            for row in await connection.execute(_FIND_POSTGRES, _columns(some)):
                found.setdefault(some[row.place], []).append((row.event_id, row.source_id))
    return found


async def _find_on_sqlite(connection: AsyncConnection, lookups: Sequence[Lookup]) -> dict[Lookup, list[Found]]:
    listed = msgspec.json.encode([(each.key, each.first_minute, each.last_minute) for each in lookups]).decode()
    rows = await connection.execute(_FIND_SQLITE, {"lookups": listed})
    return {lookups[row.place]: [_pair(each) for each in row.found.split(",")] for row in rows if row.found}


def _pair(written: str) -> Found:
    event, source = written.split(" ")
    return int(event), int(source)


def _columns(lookups: Sequence[Lookup]) -> dict[str, list[int]]:
    return {
        "keys": [each.key for each in lookups],
        "first": [each.first_minute for each in lookups],
        "last": [each.last_minute for each in lookups],
    }


async def write_keys(
    connection: AsyncConnection, before: Mapping[int, Keyed], after: Mapping[int, tuple[int, Keyed]]
) -> None:
    """Put events under their keys: `after` has each event's source and keys, `before` the keys of each so far."""
    moved = [key for key, keyed in before.items() if key not in after or after[key][1] != keyed]
    await write_each(connection, _DROP, list(_drops({key: before[key] for key in moved})))
    await _INSERT.write_at_commit(
        connection,
        [
            {"key": key, "minute": keyed.minute, "event_id": event, "source_id": source}
            for event, (source, keyed) in sorted(after.items())
            if before.get(event) != keyed
            for key in keyed.keys
        ],
    )


def _drops(keyed: Mapping[int, Keyed]) -> Iterable[dict[str, Any]]:
    for event, each in keyed.items():
        for key in each.keys:
            yield {"b_key": key, "b_minute": each.minute, "b_event_id": event}
