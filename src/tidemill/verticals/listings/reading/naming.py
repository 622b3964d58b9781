"""What actors call things, word by word: `minPrice`, `price_min` and `list-price-min` are one name.

A name means a field when it holds one of the field's words and otherwise nothing but words that leave the meaning as
it is: `pricePerMonth` is a rent, `pricePerSqft`, `previousPrice` and `rentZestimate` are not. One that means nothing by
itself may do so with the name of what it lies in: `address.line1`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

Item = Mapping[str, Any]
Words = frozenset[str]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DEEPEST = 4


def _words(text: str) -> Words:
    return frozenset(text.split())


LOW = _words("min minimum low lower lowest from starting start")
HIGH = _words("max maximum high higher upper highest to")
FORMATS = _words("formatted unformatted display text label value amount range raw string")
"""How a value is said, which does not change what it is."""
_OWNERS = _words("listing property home apartment rental")
"""Whose a thing is: the home's in any case."""
_COUNTED = _words("number num no of count total")
_WRAPPERS = _words("property listing home node item result data attributes rental apartment info hdp details")
_PLACES = _WRAPPERS | _words("address location geo coordinates coordinate lat long latlng position map point")
_FIGURES = _WRAPPERS | _words("description specs summary price pricing rent")
_CONTAINERS = _PLACES | _FIGURES


class FieldMeaning(msgspec.Struct, frozen=True):
    """The words of which a name needs one set, those that it may have besides, and those of what it may lie in."""

    needs: tuple[Words, ...]
    allows: Words = frozenset()
    within: Words = _WRAPPERS

    def fits(self, words: Words) -> bool:
        """Whether a name of these words means this."""
        return any(need <= words and words - need <= self.allows | _OWNERS for need in self.needs)


def _meaning(needs: str, allows: str = "", within: Words = _WRAPPERS, more: Words = frozenset()) -> FieldMeaning:
    return FieldMeaning(tuple(map(_words, needs.split("|"))), _words(allows) | more, within)


MEANINGS: Mapping[str, FieldMeaning] = {
    "id": _meaning("id|key|property code|listing code", "post posting ad source external"),
    "url": _meaning("url|link|href|uri", "detail details post posting page full web hdp v 2 source"),
    "title": _meaning("title|name|headline", "building community display post posting complex"),
    "address": _meaning("address|street|street address", "full formatted display line 1 one name", _PLACES),
    "unit": _meaning("unit number|apt number|apartment number|unit", "address", _PLACES),
    "city": _meaning("city|town|locality|municipality", "address name", _PLACES),
    "state": _meaning("state|region", "address code abbreviation", _PLACES),
    "postal_code": _meaning("zip|zipcode|postcode|postal code", "address code", _PLACES),
    "neighborhood": _meaning("neighborhood|neighbourhood|district", "name", _PLACES),
    "rent": _meaning("rent|rents|price|pricing|rent price", "monthly month per list base asking", _FIGURES, FORMATS),
    "beds": _meaning("bed|beds|bedroom|bedrooms", "", _FIGURES, FORMATS | _COUNTED),
    "baths": _meaning("bath|baths|bathroom|bathrooms", "", _FIGURES, FORMATS | _COUNTED),
    "size": _meaning("sqft|sqm|area|size|surface|square feet|square foot|square footage|floor space|sq ft",
                     "living floor unit square total", _FIGURES, FORMATS),
    "available": _meaning("available|availability|move in", "date from on day text", _FIGURES),
    "latitude": _meaning("lat|latitude", "geo address location map", _PLACES),
    "longitude": _meaning("lng|lon|long|longitude", "geo address location map", _PLACES),
    "amenities": _meaning("amenities|features", "unit community building"),
    "images": _meaning("images|image|photos|photo|pictures|pics|thumbnail", "url urls src links main primary"),
    "currency": _meaning("currency", "code price", _FIGURES),
}  # fmt: skip
"""By field; a field that has none is known by its exact names alone."""


@lru_cache(maxsize=8_192)
def words_of(name: str) -> Words:
    """The words of a name, however they are put together."""
    return frozenset(word.lower() for word in _WORD.findall(name[:100]))


@lru_cache(maxsize=8_192)
def meanings_of(name: str) -> tuple[tuple[str, str], ...]:
    """The fields that a name means, each with the bound that it is: `low`, `high`, or '' for the whole."""
    words = words_of(name)
    found = []
    for field, meaning in MEANINGS.items():
        if meaning.fits(words):
            found.append((field, ""))
        elif words & LOW and meaning.fits(words - LOW):
            found.append((field, "low"))
        elif words & HIGH and meaning.fits(words - HIGH):
            found.append((field, "high"))
    return tuple(found)


def fields_by_name(item: Item) -> dict[str, list[tuple[str, Any]]]:
    """What an item holds under names that mean a field, with the path of each; pairs of bounds come first."""
    pairs: dict[str, list[tuple[str, Any]]] = {}
    wholes: dict[str, list[tuple[str, Any]]] = {}
    for path, around, holder in _holders(item):
        container = path.rstrip(".").rpartition(".")[2]
        bounds: dict[str, dict[str, tuple[str, Any]]] = {}
        for name, value in holder.items():
            if value is None or value == "":
                continue
            for field, bound in meanings_of(name) or meanings_of(f"{container}_{name}"):
                if not around <= MEANINGS[field].within:
                    continue
                if bound:
                    bounds.setdefault(field, {}).setdefault(bound, (path + name, value))
                else:
                    wholes.setdefault(field, []).append((path + name, value))
        for field, ends in bounds.items():
            low, high = ends.get("low"), ends.get("high")
            (first, least), (last, most) = low or high or ("", None), high or low or ("", None)
            pairs.setdefault(field, []).append((f"{first}..{last}", {"min": least, "max": most}))
    return {field: pairs.get(field, []) + wholes.get(field, []) for field in pairs.keys() | wholes.keys()}


def _holders(item: Item) -> Iterator[tuple[str, Words, Item]]:
    """An item and the objects in it that lie within containers alone: the path, the containers' words, the object."""
    pending: list[tuple[str, Words, Item, int]] = [("", frozenset(), item, 0)]
    while pending:
        path, around, holder, depth = pending.pop(0)
        yield path, around, holder
        for name, value in holder.items() if depth < _DEEPEST else ():
            if isinstance(value, dict) and (words := words_of(name)) and words <= _CONTAINERS:
                pending.append((f"{path}{name}.", around | words, value, depth + 1))
