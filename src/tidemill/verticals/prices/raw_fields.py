"""What a page says of an offer, field by field, as text: raw fields that rules need not ask the type of."""

from collections.abc import Mapping
from typing import Any

import msgspec


class RawOffer(msgspec.Struct, frozen=True, gc=False):
    """The fields of a raw offer; what the page does not say is empty.

    `prices` are candidates between which no rule chose; `doubt` is a quarantine reason that the reader itself
    had; `repeated` marks a product that the same page showed before.
    """

    title: str = ""
    price: str = ""
    currency: str = ""
    list_price: str = ""
    availability: str = ""
    url: str = ""
    sku: str = ""
    product_id: str = ""
    gtin: str = ""
    mpn: str = ""
    brand: str = ""
    image: str = ""
    shipping: str = ""
    tax: str = ""
    caliber: str = ""
    grain: str = ""
    rounds: str = ""
    case_material: str = ""
    bullet_type: str = ""
    load_type: str = ""
    shell_length: str = ""
    prices: str = ""
    doubt: str = ""
    repeated: str = ""
    adapter: str = ""


SELECTABLE = frozenset(RawOffer.__struct_fields__) - {"prices", "doubt", "repeated", "adapter"}
"""The fields that a source's selectors may point at."""


def text_fields(fields: Mapping[str, Any]) -> RawOffer:
    """The fields as text, in one step where they are text already: nearly always."""
    try:
        return msgspec.convert(fields, RawOffer)
    except msgspec.ValidationError:
        return msgspec.convert({name: _text(value) for name, value in fields.items()}, RawOffer)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None or isinstance(value, dict | list) else str(value)
