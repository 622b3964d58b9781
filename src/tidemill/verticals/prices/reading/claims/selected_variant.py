"""The variant that the page's address selects, of those that the data tells."""

from urllib.parse import parse_qsl, urlsplit

import msgspec

from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.claims.claim import PriceClaim
from tidemill.verticals.prices.reading.product import Variant

_MOST_PARAMETERS = 20


def with_selected_variant(claim: PriceClaim, url: str) -> PriceClaim:
    """The claim told of the one variant that the address names, by its own address, its SKU or its id; else unchanged.

    An address that every variant shares selects none.
    """
    chosen = [variant for variant in claim.variants if _is_named(variant, url)]
    if len(chosen) != 1 or len(claim.variants) == 1:
        return claim
    variant = chosen[0]
    told = {"sku": variant.sku, "gtin": variant.gtin}
    if variant.availability is not Availability.UNKNOWN:
        told["availability"] = variant.availability.value
    given = {name: value for name, value in told.items() if value}
    places = dict.fromkeys(given, "the variant that the address selects")
    others = frozenset(each.price for each in claim.variants if each is not variant)
    return msgspec.structs.replace(
        claim, passed_over=others, price=variant.price, high=None, list_price=None, fields={**claim.fields, **given},
        places={**claim.places, **places},
    )  # fmt: skip


def _is_named(variant: Variant, url: str) -> bool:
    wanted, own = urlsplit(url), urlsplit(variant.url)
    asked = set(parse_qsl(wanted.query)[:_MOST_PARAMETERS])
    values = {value for _, value in asked}
    if variant.sku and variant.sku in values:
        return True
    named = set(parse_qsl(own.query)[:_MOST_PARAMETERS])
    if named:
        return own.path in {"", wanted.path} and named <= asked
    return bool(own.path) and own.path.rstrip("/") == wanted.path.rstrip("/")
