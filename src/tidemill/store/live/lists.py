"""What lists bring: new things with their targets, things that are back, and how many lists in a row miss a page.

A list that says what the one before said writes nothing. Whoever watches a thing learns from the rows what lists say
of it; only a thing that nobody watches is moved here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.live.change import ThingKey
from tidemill.core.live.lifecycle import Life, Lifecycle, LifecyclePolicy, Move, after_list
from tidemill.core.live.rules import LIVE_ROLE, THING_ROLE, ListedThing, ListReading, Phase
from tidemill.core.pacing import own_host
from tidemill.core.source import Source, counts_by_host
from tidemill.core.target import Target
from tidemill.core.urls import BadUrl, canonicalize, host_of, registrable_domain
from tidemill.pipeline.live_ports import ThingFacts
from tidemill.store.database.batches import write_each
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.live.changes import move_row
from tidemill.store.records.live import LiveThings
from tidemill.store.schema import live_moves, live_pages, live_things, targets
from tidemill.store.sources.hosts import Paces, ensure_hosts
from tidemill.store.sources.targets import upsert_targets
from tidemill.store.upkeep.audit import take_keys

LONGEST_TITLE = 300
_PAGES_OF_SOURCE = (
    select(live_pages, live_things.c.key, live_things.c.vertical, live_things.c.lifecycle, live_things.c.since)
    .add_columns(live_things.c.missed_lists.label("thing_missed"))
    .join(live_things, live_things.c.id == live_pages.c.thing_id)
    .where(live_pages.c.source_id == bindparam("b_source"))
)
_MISS = update(live_pages).where(live_pages.c.target_id == bindparam("b_id")).values(missed_lists=bindparam("b_missed"))
_THINGS = select(live_things).where(
    live_things.c.vertical == bindparam("b_vertical"), live_things.c.key.in_(bindparam("b_keys", expanding=True))
)
_TAKE_UP = (
    update(live_things)
    .where(live_things.c.id == bindparam("b_id"))
    .values(
        lifecycle=bindparam("b_lifecycle"), since=bindparam("b_since"), missed_lists=0, updated_at=bindparam("b_since")
    )
)
_FACTS = (
    select(live_pages.c.thing_id, live_pages.c.target_id, live_pages.c.missed_lists, targets.c.enabled)
    .join(targets, targets.c.id == live_pages.c.target_id)
    .where(live_pages.c.thing_id.in_(bindparam("b_things", expanding=True)))
)

_NEVER_DISPATCHED = (
    update(targets).where(targets.c.id.in_(bindparam("b_targets", expanding=True))).values(next_due_at=None)
)
"""Pages of things get no jobs of their own: the watch of their thing polls them."""


class ListedThings:
    """Where lists become things."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        things: Mapping[str, LiveThings],
        paces: Paces,
        policy: LifecyclePolicy,
    ) -> None:
        """`things` say by vertical which thing a site's id means."""
        self._database = database
        self._ids = ids
        self._things = things
        self._paces = paces
        self._policy = policy

    async def facts(self, things: Sequence[int]) -> dict[int, ThingFacts]:
        """What is written about things: the pages that tell of each, and how many lists missed them."""
        pages: dict[int, dict[int, int]] = {key: {} for key in things}
        enabled: dict[int, bool] = {}
        async with self._database.glance() as connection:
            for row in await connection.execute(_FACTS, {"b_things": list(things)}):
                pages[row.thing_id][row.target_id] = row.missed_lists
                enabled[row.thing_id] = enabled.get(row.thing_id, False) or row.enabled
        return {key: ThingFacts(found, not enabled.get(key, True)) for key, found in pages.items()}

    async def put(
        self, source: Source, adapter_id: str, reading: ListReading, now: datetime
    ) -> list[tuple[ThingKey, Move]]:
        """Take in a list; answers the moves that it made: things discovered, and things taken up again."""
        known = await self._pages(source.id)
        named = {(each.source_key, each.resource): each for each in reading.listed}
        fresh = [each for key, each in named.items() if key not in known]
        back = [known[key] for key, each in named.items() if key in known and _is_back(known[key], each)]
        missed = _missed(known, named, self._policy, is_complete=reading.is_complete)
        keys: Mapping[str, str] = {}
        if fresh:
            keys = await self._things[source.vertical].identify(source, fresh, now)
            fresh = [each for each in fresh if keys.get(each.source_key) and _host(each, source, self._paces)]
        if not (fresh or back or missed):
            return []
        new_keys = iter(await take_keys(self._ids, 3 * len(fresh) + len(back)))
        async with self._database.write() as connection:
            await write_each(connection, _MISS, missed)
            moves = await self._take_up(connection, back, new_keys, now)
            return moves + await self._add(connection, source, adapter_id, fresh, keys, new_keys, now)

    async def _pages(self, source_id: int) -> dict[tuple[str, str], Any]:
        async with self._database.glance() as connection:
            rows = (await connection.execute(_PAGES_OF_SOURCE, {"b_source": source_id})).mappings().all()
        return {(row["source_key"], row["resource"]): row for row in rows}

    async def _take_up(
        self, connection: AsyncConnection, back: Sequence[Any], keys: Any, now: datetime
    ) -> list[tuple[ThingKey, Move]]:
        """Archived things that a list names again: nobody watches them, so that they are moved here."""
        moves = []
        for row in {row["thing_id"]: row for row in back}.values():
            life = Life(state=Lifecycle(row["lifecycle"]), since=row["since"], missed_lists=row["thing_missed"])
            after, move = after_list(life, self._policy, is_named=True, now=now)
            if move is not None:
                value = {"b_id": row["thing_id"], "b_lifecycle": after.state, "b_since": now}
                await connection.execute(_TAKE_UP, value)
                await connection.execute(live_moves.insert(), [move_row(next(keys), row["thing_id"], move)])
                moves.append((ThingKey(row["vertical"], row["key"]), move))
        return moves

    async def _add(
        self,
        connection: AsyncConnection,
        source: Source,
        adapter_id: str,
        fresh: Sequence[ListedThing],
        keys: Mapping[str, str],
        new_keys: Any,
        now: datetime,
    ) -> list[tuple[ThingKey, Move]]:
        """New pages, each with its target, and the things that they are the first to tell of."""
        if not fresh:
            return []
        wanted = [
            (_target(each, source, adapter_id, keys[each.source_key], self._paces), ("host", "parameters", "scope"))
            for each in fresh
        ]
        made = await upsert_targets(connection, wanted, [next(new_keys) for _ in fresh], now)
        target_ids = [made[source.id, target.canonical_url][0] for target, _ in wanted]
        await ensure_hosts(connection, self._database, {target.host for target, _ in wanted}, self._paces, now)
        first: dict[str, tuple[ListedThing, int]] = {}
        for each, target_id in zip(fresh, target_ids, strict=True):
            first.setdefault(keys[each.source_key], (each, target_id))
        things = [
            _thing_row(next(new_keys), ThingKey(source.vertical, key), each, at, now)
            for key, (each, at) in first.items()
        ]
        await connection.execute(self._database.insert(live_things).on_conflict_do_nothing(), things)
        asked = {"b_vertical": source.vertical, "b_keys": list(first)}
        known = {row["key"]: row["id"] for row in (await connection.execute(_THINGS, asked)).mappings()}
        moves = []
        for thing in [each for each in things if known[each["key"]] == each["id"]]:
            move = Move(Lifecycle.DISCOVERED, Lifecycle.DISCOVERED, now, f"{source.name} lists it")
            row = move_row(next(new_keys), thing["id"], move) | {"moved_from": ""}
            await connection.execute(live_moves.insert(), [row])
            moves.append((ThingKey(source.vertical, thing["key"]), move))
        await connection.execute(_NEVER_DISPATCHED, {"b_targets": target_ids})
        rows = [
            {"target_id": target_id, "thing_id": known[keys[each.source_key]], "source_id": source.id,
             "source_key": each.source_key, "resource": each.resource}
            for each, target_id in zip(fresh, target_ids, strict=True)
        ]  # fmt: skip
        statement = self._database.insert(live_pages).on_conflict_do_nothing()
        await connection.execute(statement, rows)
        return moves


def _is_back(row: Any, listed: ListedThing) -> bool:
    """Whether an archived thing has come back: a list that still names what has ended does not say so."""
    if row["lifecycle"] != Lifecycle.ARCHIVED or listed.outlook.phase is Phase.COMPLETED:
        return False
    return listed.outlook.phase is not Phase.UNKNOWN or row["missed_lists"] > 0


def _missed(
    known: Mapping[tuple[str, str], Any],
    named: Mapping[tuple[str, str], ListedThing],
    policy: LifecyclePolicy,
    *,
    is_complete: bool,
) -> list[dict[str, Any]]:
    """The pages whose count of missed lists changes; it is counted no further than it matters."""
    rows = []
    for key, row in known.items():
        before = row["missed_lists"]
        after = 0 if key in named else min(before + 1, policy.lists_to_complete) if is_complete else before
        if after != before:
            rows.append({"b_id": row["target_id"], "b_missed": after})
    return sorted(rows, key=lambda each: each["b_id"])


def _host(listed: ListedThing, source: Source, paces: Paces) -> str:
    """The name that a listed page's requests count against; '' for an address that is none."""
    try:
        name = host_of(listed.url)
        if own_host(listed.url, paces.own) or counts_by_host(source.adapter_settings):
            return name
        return registrable_domain(name)
    except BadUrl:
        return ""


def _target(listed: ListedThing, source: Source, adapter_id: str, key: str, paces: Paces) -> Target:
    return Target(
        id=0,
        source_id=source.id,
        url=listed.url,
        canonical_url=canonicalize(listed.url),
        host=_host(listed, source, paces),
        adapter_id=adapter_id,
        created_by="live",
        scope=key,
        parameters={LIVE_ROLE: THING_ROLE, "resource": listed.resource},
    )


def _thing_row(thing_id: int, thing: ThingKey, listed: ListedThing, anchor_id: int, now: datetime) -> dict[str, Any]:
    return {
        "id": thing_id,
        "vertical": thing.vertical,
        "key": thing.key,
        "title": storable(listed.title, LONGEST_TITLE),
        "anchor_id": anchor_id,
        "lifecycle": Lifecycle.DISCOVERED,
        "since": now,
        "phase": listed.outlook.phase,
        "starts_at": listed.outlook.starts_at,
        "created_at": now,
        "updated_at": now,
    }
