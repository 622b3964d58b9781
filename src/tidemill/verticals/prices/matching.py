"""Which canonical product an offer stands for: a trusted UPC first, then its attributes, else a person decides."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.verticals.prices.record import Offer

DESCRIBING = (
    "brand", "caliber", "grain_weight", "round_count", "case_material", "bullet_type", "load_type", "shell_length",
)  # fmt: skip
"""The attributes that tell one kind of ammunition from another; a pack of 50 is another product than one of 20."""


class LinkStatus(StrEnum):
    """How an offer stands to the products: linked, waiting for a person, or kept apart by one."""

    LINKED = "LINKED"
    REVIEW = "REVIEW"
    APART = "APART"


class LinkReason(StrEnum):
    """Why an offer is linked to its product, or to none."""

    UPC = "UPC"
    ATTRIBUTES = "ATTRIBUTES"
    BY_HAND = "BY_HAND"
    TOO_LITTLE_KNOWN = "TOO_LITTLE_KNOWN"
    SEVERAL_FIT = "SEVERAL_FIT"
    UPC_CONTRADICTED = "UPC_CONTRADICTED"


class KnownProduct(msgspec.Struct, frozen=True):
    """A canonical product, as far as matching goes."""

    id: int
    upc: str | None
    attributes_key: str | None


class ProductCandidate(msgspec.Struct, frozen=True):
    """An offer to be matched; `upc` only where its source is trusted with UPCs."""

    source_product_id: int
    upc: str | None
    attributes_key: str | None
    title: str
    brand: str | None
    attributes: Mapping[str, Any]


class Match(msgspec.Struct, frozen=True):
    """What matching decided; `product_id` is None for a product that is yet to be made, or for none at all."""

    status: LinkStatus
    reason: LinkReason
    detail: str
    product_id: int | None = None

    @property
    def makes_product(self) -> bool:
        """Whether the offer is the first of its kind."""
        return self.status is LinkStatus.LINKED and self.product_id is None


def attributes_of(offer: Offer) -> dict[str, Any]:
    """What describes the product, without what the shop asks for it."""
    return {name: value for name in (*DESCRIBING, "mpn") if (value := getattr(offer, name)) is not None}


def attributes_key(offer: Offer) -> str | None:
    """The attributes in one line, equal for equal products; None when too little is known to tell products apart.

    Ammunition needs brand, caliber, count, and grain or load; anything else its brand and the maker's part number.
    """
    if offer.brand and offer.caliber and offer.round_count and (offer.grain_weight or offer.load_type):
        return "|".join(folded(getattr(offer, name)) for name in DESCRIBING)
    if offer.brand and offer.mpn:
        return f"mpn|{folded(offer.brand)}|{folded(offer.mpn)}"
    return None


def folded(value: object) -> str:
    """An attribute without what shops write differently: case, blanks and punctuation, but for the decimal point."""
    return "" if value is None else "".join(each for each in str(value).casefold() if each.isalnum() or each == ".")


def match(offer: ProductCandidate, by_upc: KnownProduct | None, by_attributes: Sequence[KnownProduct]) -> Match:
    """Decide for one offer; whatever leaves room for doubt waits for a person."""
    if offer.upc is not None:
        return _by_upc(offer, by_upc)
    if offer.attributes_key is None:
        return Match(
            LinkStatus.REVIEW, LinkReason.TOO_LITTLE_KNOWN, "no trusted UPC, and too few attributes to tell it by"
        )
    if len(by_attributes) > 1:
        keys = ", ".join(str(product.id) for product in by_attributes)
        return Match(LinkStatus.REVIEW, LinkReason.SEVERAL_FIT, f"the attributes fit products {keys}")
    if by_attributes:
        return Match(LinkStatus.LINKED, LinkReason.ATTRIBUTES, offer.attributes_key, by_attributes[0].id)
    return Match(LinkStatus.LINKED, LinkReason.ATTRIBUTES, f"the first with {offer.attributes_key}")


def _by_upc(offer: ProductCandidate, known: KnownProduct | None) -> Match:
    if known is None:
        return Match(LinkStatus.LINKED, LinkReason.UPC, f"the first with UPC {offer.upc}")
    keys = (offer.attributes_key, known.attributes_key)
    if None not in keys and keys[0] != keys[1]:
        detail = f"UPC {offer.upc} is product {known.id}, but {keys[0]} is not {keys[1]}"
        return Match(LinkStatus.REVIEW, LinkReason.UPC_CONTRADICTED, detail)
    return Match(LinkStatus.LINKED, LinkReason.UPC, f"UPC {offer.upc}", known.id)
