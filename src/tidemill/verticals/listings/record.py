"""A listing as readers get it: a home for rent, with what the source says of it."""

from datetime import date
from enum import StrEnum

import msgspec


class RentBasis(StrEnum):
    """What a rent is asked for."""

    UNIT = "unit"
    PERSON = "person"
    ON_REQUEST = "on_request"


class Listing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A home for rent.

    Rents are cents a month; `rent_high` is None for a single rent, both are None on request. A studio has no
    beds. Ranges belong to buildings with several homes on one card. `door` and `unit` are the address in one
    spelling, for comparing; `address` is as the source writes it. `quality` says how much the source tells, 0-100.
    """

    title: str
    url: str
    own_id: str
    address: str
    door: str
    unit: str
    city: str
    state: str
    postal_code: str
    neighborhood: str
    rent_low: int | None
    rent_high: int | None
    rent_basis: RentBasis
    currency: str
    beds_low: float | None
    beds_high: float | None
    baths_low: float | None
    baths_high: float | None
    size_low: int | None
    size_high: int | None
    available_on: date | None
    available_text: str
    kind: str
    amenities: tuple[str, ...]
    description: str
    images: tuple[str, ...]
    latitude: float | None
    longitude: float | None
    market_id: str
    source_id: int
    source_name: str
    confidence: float
    quality: int

    @property
    def rooms(self) -> str:
        """Beds and baths in one word, as they count for identity."""
        return f"{_span(self.beds_low, self.beds_high)}/{_span(self.baths_low, self.baths_high)}"

    @property
    def address_key(self) -> str:
        """The address, unit, beds and baths that make two sites' listings one, never the price; '' if too few are told.

        Where no unit is told, beds and baths stand in for it.
        """
        if not self.door or not self.door[:1].isdigit() or not (self.postal_code or self.city):
            return ""
        return "|".join((self.door, self.unit, self.postal_code or self.city, self.rooms))


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return "?"
    return f"{low:g}" if high is None or high == low else f"{low:g}-{high:g}"
