"""A home out of its sightings: the richest source's word, completed by the others, with who said what (L4)."""

from collections.abc import Sequence

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


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A home as readers get it; `provenance` names the source of each field that is not its richest source's."""

    id: int
    listing: Listing
    record: bytes
    provenance: dict[str, int]

    @classmethod
    def of(cls, key: int, listing: Listing, encoded: bytes) -> "Home":
        """A home that one source shows."""
        return cls(id=key, listing=listing, record=encoded, provenance={"": listing.source_id})


def merge_sightings(sightings: Sequence[tuple[int, bytes]]) -> list[Home]:
    """The homes that these sightings (home, record) amount to."""
    by_home: dict[int, list[Listing]] = {}
    for home, record in sightings:
        by_home.setdefault(home, []).append(_decode(record))
    return [merge(key, told) for key, told in by_home.items()]


def merge(key: int, told: Sequence[Listing]) -> Home:
    """One home out of what its sources tell; the richest speaks, the others fill its gaps."""
    best = told[0]
    for other in told[1:]:
        best = richer(best, other)
    whole = best
    provenance = {"": best.source_id}
    for other in told:
        if other is best:
            continue
        filled = merged(whole, other) if richer(whole, other) is whole else whole
        for name in Listing.__struct_fields__:
            if getattr(filled, name) != getattr(whole, name) and name != "quality":
                provenance[name] = other.source_id
        whole = filled
    return Home(id=key, listing=whole, record=_encode(whole), provenance=provenance)
