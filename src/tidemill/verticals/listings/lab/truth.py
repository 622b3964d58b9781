"""The tables against the world, by plain SQL: a check that borrowed the store's queries would share its mistakes."""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from tidemill.core.freshness import SEEN, ConfidenceDecay, time_until_below
from tidemill.lab.simulation.laws import LawVerdict
from tidemill.verticals.listings.lab.world import HomesWorld, MarketFault, TrueHome
from tidemill.verticals.listings.market import Market

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOLD = 5
_WHILE_READING = timedelta(minutes=10)
"""How long a scrape may take: what it saw first may have changed before it was written down."""
_ENOUGH = timedelta(hours=1)
"""How long after it has come a home may take to be seen by a scrape that was under way."""


class ListingRow(msgspec.Struct, frozen=True):
    """A home in the table."""

    id: int
    rent: int | None
    active: bool
    seen: datetime
    verified: datetime | None
    homes: frozenset[int]


class Ending(msgspec.Struct, frozen=True):
    """A home that was taken off, when, and whether on evidence (`gone`) or for want of any (`faded`)."""

    listing: int
    at: datetime
    kind: str


class MarketRows(msgspec.Struct, frozen=True):
    """What the database says."""

    rows: dict[int, ListingRow]
    endings: list[Ending]
    listings_of: dict[int, set[int]]


def examine(
    world: HomesWorld, troubles: Sequence[MarketFault], database: Path
) -> tuple[tuple[LawVerdict, ...], dict[str, int]]:
    """Every law, and the figures."""
    with closing(sqlite3.connect(database)) as connection:
        stored = _market_rows(connection)
        figures = _figures(connection)
    late, left = _late(world, troubles, stored)
    verdicts = {
        "false removals": _verdict(
            "nothing that is still there is taken off", len(stored.endings), _false_removals(world, stored)
        ),
        "late removals": _verdict("what has left is off within its floor and a cycle", left, late),
        "duplicates": _verdict("no home stands on the shelf twice", len(stored.rows), _doubles(stored)),
        "homes missing": _verdict("every home that can be seen is on the shelf", *_missing(world, troubles, stored)),
        "wrong rents": _verdict("rents are those that were asked", *_wrong_rents(world, stored)),
    }
    broken = {name: verdict.breaches for name, verdict in verdicts.items()}
    return tuple(verdicts.values()), {"homes in the world": len(world.homes), **broken, **figures}


def _market_rows(connection: sqlite3.Connection) -> MarketRows:
    homes: dict[int, set[int]] = defaultdict(set)
    for listing, identity in connection.execute("SELECT listing_id, identity FROM listing_sightings"):
        homes[listing].add(int(identity.removeprefix("ID:")[1:]))
    rows = {}
    query = "SELECT id, rent_low, is_active, last_seen_at, verified_at FROM listings"
    for key, rent, active, seen, verified in connection.execute(query):
        known = frozenset(homes[key])
        rows[key] = ListingRow(
            key, rent, bool(active), _moment(seen), None if verified is None else _moment(verified), known
        )
    query = (
        "SELECT record_id, created_at, kind FROM record_history"
        " WHERE vertical = 'listings' AND kind IN ('gone', 'faded') ORDER BY id"
    )
    endings = [Ending(key, _moment(at), kind) for key, at, kind in connection.execute(query)]
    listings_of: dict[int, set[int]] = defaultdict(set)
    for key, numbers in homes.items():
        for number in numbers:
            listings_of[number].add(key)
    return MarketRows(rows, endings, listings_of)


def _figures(connection: sqlite3.Connection) -> dict[str, int]:
    asked = {
        "homes on the shelf": "SELECT count(*) FROM listings",
        "homes active": "SELECT count(*) FROM listings WHERE is_active",
        "sightings": "SELECT count(*) FROM listing_sightings",
        "homes shown by several sources": "SELECT count(*) FROM (SELECT 1 FROM listing_sightings GROUP BY listing_id"
        " HAVING count(*) > 1)",
        "homes that came back": "SELECT count(*) FROM record_history WHERE vertical = 'listings' AND kind = 'returned'",
        "rents that moved": "SELECT count(*) FROM listings WHERE previous_rent IS NOT NULL",
        "homes that faded": "SELECT count(*) FROM record_history WHERE vertical = 'listings' AND kind = 'faded'",
        "homes verified": "SELECT count(*) FROM listings WHERE verified_at IS NOT NULL",
        "taken off when looked up": "SELECT count(*) FROM record_history WHERE vertical = 'listings' AND kind = 'gone'"
        " AND changes LIKE '%looked up%'",
        "runs": "SELECT count(*) FROM scrape_runs",
        "runs not certified complete": "SELECT count(*) FROM scrape_runs WHERE NOT complete",
        "dead letters": "SELECT count(*) FROM dead_letter_queue",
    }
    return {name: int(connection.execute(query).fetchone()[0]) for name, query in asked.items()}


def _false_removals(world: HomesWorld, stored: MarketRows) -> list[str]:
    found = []
    for ending in (one for one in stored.endings if one.kind == "gone"):
        for number in stored.rows[ending.listing].homes:
            home = world.by_number[number]
            if home.is_there(ending.at):
                found.append(f"{home.title} was taken off at {ending.at:%m-%d %H:%M} and was there")
    return found


def _late(world: HomesWorld, troubles: Sequence[MarketFault], stored: MarketRows) -> tuple[list[str], int]:
    """Homes that left, could be looked up, and were still in the table after their floor time and one cycle."""
    ended: dict[int, list[datetime]] = defaultdict(list)
    for ending in stored.endings:
        ended[ending.listing].append(ending.at)
    markets = {market.id: market for market in world.markets}
    late, checked = [], 0
    for home in world.homes:
        for stay in home.stays:
            by = stay.ends + _patience(markets[home.market])
            if not world.start < stay.ends < by < world.ends or home.is_there(by):
                continue
            if _is_hidden(home, troubles, stay.ends, by):
                continue
            for key in stored.listings_of.get(home.number, ()):
                checked += 1
                row = stored.rows[key]
                if not any(stay.ends <= at <= by for at in ended[key]) and (row.active or not ended[key]):
                    late.append(
                        f"{home.title} left at {stay.ends:%m-%d %H:%M} and was still on the shelf at {by:%m-%d %H:%M}"
                    )
    return late, checked


def _patience(market: Market) -> timedelta:
    fading = ConfidenceDecay()
    return time_until_below(SEEN, fading.rate(market.tier), fading.floor) + market.every


def _doubles(stored: MarketRows) -> list[str]:
    several = [
        f"home {number} stands {len(keys)} times" for number, keys in stored.listings_of.items() if len(keys) > 1
    ]
    mixed = [f"row {row.id} mixes homes {sorted(row.homes)}" for row in stored.rows.values() if len(row.homes) > 1]
    return several + mixed


def _missing(world: HomesWorld, troubles: Sequence[MarketFault], stored: MarketRows) -> tuple[int, list[str]]:
    """Homes that were there for two cycles up to the end, and are not in the table as active."""
    markets = {market.id: market for market in world.markets}
    found, checked = [], 0
    for home in world.homes:
        since = world.ends - 2 * markets[home.market].every - _ENOUGH
        if not _throughout(home, since, world.ends) or _is_hidden(home, troubles, since, world.ends):
            continue
        checked += 1
        rows = [stored.rows[key] for key in stored.listings_of.get(home.number, ())]
        if not any(row.active for row in rows):
            found.append(f"{home.title} is there and not on the shelf")
    return checked, found


def _throughout(home: TrueHome, begins: datetime, ends: datetime) -> bool:
    return any(stay.begins <= begins and ends <= stay.ends for stay in home.stays)


def _is_hidden(home: TrueHome, troubles: Sequence[MarketFault], begins: datetime, ends: datetime) -> bool:
    """Whether every site that shows it was in trouble at some time between: nobody could be sure to see it."""
    met = {one.site for one in troubles if one.market in {"", home.market} and one.begins < ends and begins < one.ends}
    return all(site in met for site in home.sites)


def _wrong_rents(world: HomesWorld, stored: MarketRows) -> tuple[int, list[str]]:
    """Rents of active homes that differ from what was asked when they were last seen."""
    found, checked = [], 0
    for row in stored.rows.values():
        for number in row.homes if row.active and row.rent is not None else ():
            home = world.by_number[number]
            checked += 1
            asked = {home.rent(row.seen), home.rent(row.seen - _WHILE_READING)}
            if row.rent is not None and row.rent // 100 not in asked:
                found.append(f"{home.title} asks {home.rent(row.seen)} and stands with {row.rent / 100:g}")
    return checked, found


def _verdict(law: str, checked: int, breaches: list[str]) -> LawVerdict:
    return LawVerdict(law=law, checked=str(checked), breaches=len(breaches), told=tuple(breaches[:_TOLD]))


def _moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
