"""One home, however often and wherever it is shown: exact keys first, then likeness within a small block.

Nothing is compared with everything: each listing is looked up under a few keys, and only what shares one is
compared. The price is never looked at. What a source itself tells apart, by ids of its own, stays apart.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from tidemill.verticals.listings.quality import quality
from tidemill.verticals.listings.record import Listing

ALIKE = 0.82
"""From this likeness on two listings are one home."""

_NEAR_METRES = 60.0
_METRES_A_DEGREE = 111_320.0
_CELL = 0.001
_MOST_IN_BLOCK = 200
"""Listings under one key beyond which it tells nothing: a tower's hundreds of flats need their units."""


class KnownListing(msgspec.Struct, frozen=True):
    """A listing on the repository, under its key there."""

    key: int
    listing: Listing


class Deduplicated(msgspec.Struct, frozen=True):
    """What to do with a batch: insert, update under which key, or skip because the batch itself has it twice."""

    new: list[Listing]
    updates: list[tuple[int, Listing]]
    skipped: list[Listing]


class Index:
    """Listings by the keys they are looked up with."""

    def __init__(self, known: Iterable[KnownListing] = ()) -> None:
        """Start with what is on the repository."""
        self._by_id: dict[tuple[int, str], KnownListing] = {}
        self._by_door: dict[str, list[KnownListing]] = defaultdict(list)
        self._by_block: dict[str, list[KnownListing]] = defaultdict(list)
        for one in known:
            self.add(one)

    def add(self, one: KnownListing) -> None:
        """Make it findable."""
        listing = one.listing
        if listing.own_id:
            self._by_id.setdefault((listing.source_id, listing.own_id), one)
        if listing.address_key:
            self._by_door[listing.address_key].append(one)
        for block in blocks_of(listing):
            self._by_block[block].append(one)

    def find(self, listing: Listing) -> KnownListing | None:
        """The same home: by its source's id, by its door, or by likeness; None if it is new."""
        if listing.own_id and (same := self._by_id.get((listing.source_id, listing.own_id))) is not None:
            return same
        behind_door = [
            one for one in self._by_door.get(listing.address_key, ()) if not are_distinct(listing, one.listing)
        ]
        if behind_door:
            return only_one(behind_door)
        return self._most_alike(listing)

    def _most_alike(self, listing: Listing) -> KnownListing | None:
        likely: dict[int, tuple[float, KnownListing]] = {}
        for block in blocks_of(listing):
            candidates = self._by_block.get(block, [])
            for one in candidates if len(candidates) <= _MOST_IN_BLOCK else ():
                if one.key not in likely and (how_much := likeness(listing, one.listing)) >= ALIKE:
                    likely[one.key] = (how_much, one)
        most = max((how_much for how_much, _ in likely.values()), default=0.0)
        return only_one([one for how_much, one in likely.values() if how_much == most])


def only_one(candidates: Sequence[KnownListing]) -> KnownListing | None:
    """The one candidate; of several like flats behind one door nobody can say which it is, so it is none of them."""
    return candidates[0] if len(candidates) == 1 else None


def deduplicate(incoming: Sequence[Listing], known: Iterable[KnownListing]) -> Deduplicated:
    """Sort a batch into new ones, updates of known ones, and those that the batch shows twice."""
    repository, batch = Index(known), Index()
    new: list[Listing] = []
    updates: dict[int, Listing] = {}
    skipped: list[Listing] = []
    for listing in incoming:
        same = repository.find(listing)
        if same is not None:
            twice = updates.get(same.key)
            if twice is not None:
                skipped.append(listing)
            updates[same.key] = listing if twice is None else richer(twice, listing)
            continue
        twin = batch.find(listing)
        if twin is not None:
            skipped.append(listing)
            new[twin.key] = merged(new[twin.key], listing)
        else:
            batch.add(KnownListing(len(new), listing))
            new.append(listing)
    return Deduplicated(new, list(updates.items()), skipped)


def are_distinct(one: Listing, other: Listing) -> bool:
    """Whether their own source says that they are two: ids of its own that differ, or units, or rooms."""
    if one.source_id == other.source_id and one.own_id and other.own_id and one.own_id != other.own_id:
        return True
    if one.unit != other.unit and (one.unit and other.unit):
        return True
    return _apart(one.beds_low, other.beds_low) or _apart(one.baths_low, other.baths_low)


def blocks_of(listing: Listing) -> list[str]:
    """The keys under which a like listing would be found too."""
    found: list[str] = []
    number, _, street = listing.door.partition(" ")
    if number[:1].isdigit():
        found.extend(f"{where}|{number}" for where in {listing.postal_code, listing.city} if where)
    elif street and listing.postal_code:
        found.append(f"{listing.postal_code}|{listing.door}")
    if listing.latitude is not None and listing.longitude is not None:
        row, column = math.floor(listing.latitude / _CELL), math.floor(listing.longitude / _CELL)
        found.extend(f"@{row + down},{column + across}" for down in (0, 1) for across in (0, 1))
    return found


def likeness(one: Listing, other: Listing) -> float:
    """How likely two listings are one home, from 0 to 1; a contradiction makes it 0, and the price says nothing."""
    if are_distinct(one, other):
        return 0.0
    evidence = [(3.0, street_likeness(one.door, other.door))]
    if one.unit and other.unit:
        evidence.append((2.0, 1.0))
    elif one.unit or other.unit:
        evidence.append((1.0, 0.4))
    for weight, mine, theirs in ((1.5, one.beds_low, other.beds_low), (1.0, one.baths_low, other.baths_low)):
        if mine is not None and theirs is not None:
            evidence.append((weight, 1.0))
    if one.size_low and other.size_low:
        evidence.append((1.0, 1.0 - min(1.0, abs(one.size_low - other.size_low) / 100)))
    if (apart := metres_apart(one, other)) is not None:
        evidence.append((1.5, 1.0 if apart <= _NEAR_METRES else 0.0))
    total = sum(weight for weight, _ in evidence)
    return sum(weight * likely for weight, likely in evidence) / total if total > 3.0 else 0.0  # noqa: PLR2004 - a street alone proves nothing


def street_likeness(one: str, other: str) -> float:
    """How alike two doors are spelled: the numbers must be the same, the streets may have a slip of the pen."""
    if one == other:
        return 1.0 if one else 0.0
    number, _, street = one.partition(" ")
    their_number, _, their_street = other.partition(" ")
    if number != their_number:
        return 0.0
    mine, theirs = trigrams(street), trigrams(their_street)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0


def trigrams(text: str) -> set[str]:
    """Every three letters in a row, the ends marked."""
    padded = f"  {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)} if text else set()


def metres_apart(one: Listing, other: Listing) -> float | None:
    """The distance, good enough for a street; None if one of them has no coordinates."""
    if one.latitude is None or one.longitude is None or other.latitude is None or other.longitude is None:
        return None
    north = (one.latitude - other.latitude) * _METRES_A_DEGREE
    east = (one.longitude - other.longitude) * _METRES_A_DEGREE * math.cos(math.radians(one.latitude))
    return math.hypot(north, east)


def richer(one: Listing, other: Listing) -> Listing:
    """The one that tells more; the first when they tell as much."""
    return other if quality(other) > quality(one) else one


def merged(one: Listing, other: Listing) -> Listing:
    """The richer of the two, completed with what only the other tells; rent and rooms are never mixed."""
    best = richer(one, other)
    rest = other if best is one else one
    gaps = {
        name: getattr(rest, name)
        for name in _MAY_BE_FILLED
        if getattr(best, name) in ("", None, ()) and getattr(rest, name) not in ("", None, ())
    }
    if best.latitude is None and rest.latitude is not None:
        gaps |= {"latitude": rest.latitude, "longitude": rest.longitude}
    whole = msgspec.structs.replace(best, **gaps)
    return msgspec.structs.replace(whole, quality=quality(whole))


_MAY_BE_FILLED = (
    "unit", "postal_code", "neighborhood", "size_low", "size_high", "available_on", "available_text", "kind",
    "amenities", "description", "images",
)  # fmt: skip


def _apart(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one != other
