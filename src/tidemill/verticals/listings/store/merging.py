"""A home out of its sightings: the richest source's word, completed by the others, with who said what."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.verticals.listings.dedupe import merged, richer
from tidemill.verticals.listings.record import Listing

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Listing).decode


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A source's word on a home."""

    id: int
    listing_id: int
    source_id: int
    identity: str
    market_id: str
    url: str
    checksum: int
    record: bytes
    page_id: int


class MergedListing(msgspec.Struct, frozen=True, kw_only=True):
    """A home as readers get it; `provenance` names the source of each field that is not its richest source's."""

    id: int
    listing: Listing
    record: bytes
    provenance: dict[str, int]

    @classmethod
    def of(cls, key: int, listing: Listing, encoded: bytes) -> "MergedListing":
        """A home that one source shows."""
        return cls(id=key, listing=listing, record=encoded, provenance={"": listing.source_id})


class SourceStatement(msgspec.Struct, frozen=True):
    """What a source says of a home, and when it last did."""

    home: int
    record: bytes
    seen_at: datetime


def merge_sightings(words: Sequence[SourceStatement]) -> list[MergedListing]:
    """The homes that these words amount to."""
    by_home: dict[int, list[SourceStatement]] = {}
    for word in words:
        by_home.setdefault(word.home, []).append(word)
    return [merge(key, told) for key, told in by_home.items()]


def merge(key: int, words: Sequence[SourceStatement]) -> MergedListing:
    """One home out of what its sources tell.

    The richest speaks and the others fill its gaps; but the rent is that of whoever was read last, because a rich
    source that has been away for days must not hold on to an old one.
    """
    told = [(word.seen_at, _decode(word.record)) for word in words]
    best = told[0][1]
    for _, other in told[1:]:
        best = richer(best, other)
    whole, provenance = best, {"": best.source_id}
    for _, other in told:
        if other is not best:
            filled = merged(whole, other) if richer(whole, other) is whole else whole
            provenance |= {name: other.source_id for name in _FIELDS if getattr(filled, name) != getattr(whole, name)}
            whole = filled
    whole, provenance = _with_newest_rent(whole, provenance, told)
    return MergedListing(id=key, listing=whole, record=_encode(whole), provenance=provenance)


def _with_newest_rent(
    whole: Listing, provenance: dict[str, int], told: Sequence[tuple[datetime, Listing]]
) -> tuple[Listing, dict[str, int]]:
    newest = max((seen_at for seen_at, one in told if one.rent_low is not None), default=None)
    fresh = [one for seen_at, one in told if seen_at == newest and one.rent_low is not None]
    if not fresh or any(one.source_id == whole.source_id for one in fresh):
        return whole, provenance
    rent = {name: getattr(fresh[0], name) for name in _RENT}
    return msgspec.structs.replace(whole, **rent), {**provenance, **dict.fromkeys(_RENT, fresh[0].source_id)}


_RENT = ("rent_low", "rent_high", "rent_basis", "currency")
_FIELDS = tuple(name for name in Listing.__struct_fields__ if name != "quality")
