"""What one source of data on a page claims about the product: JSON-LD, meta tags, platform markup, a script."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from tidemill.core.record import Strategy
from tidemill.reading.currencies import currency_code
from tidemill.reading.money import Money, parse_money
from tidemill.reading.text import decoded, squash
from tidemill.verticals.prices.reading.product import Variant

Absolute = Callable[[str], str]

_THOUSANDTHS = 3
_WITHOUT_DECIMALS = frozenset({"CLP", "COP", "IDR", "VND", "KRW", "JPY", "HUF", "PYG", "ARS", "UGX", "IRR"})
"""Currencies whose prices have no decimals, whatever ISO says: a point in them parts thousands."""


class PriceClaim(msgspec.Struct, frozen=True, kw_only=True):
    """One source's description of the product.

    `fields` are its words by name and `places` where each stands; `price` is its selling price, `list_price` the
    crossed-out one, `high` the upper end where it gives a range. `confidence` is how far such a source is trusted.
    `passed_over` are the prices of the variants that the page's address did not choose.
    """

    strategy: Strategy
    origin: str
    confidence: float
    fields: Mapping[str, str] = msgspec.field(default_factory=dict)
    places: Mapping[str, str] = msgspec.field(default_factory=dict)
    price: Decimal | None = None
    currency: str = ""
    list_price: Decimal | None = None
    high: Decimal | None = None
    shipping: Decimal | None = None
    variants: tuple[Variant, ...] = ()
    passed_over: frozenset[Decimal] = frozenset()


def text_of(value: Any) -> str:
    """The words of a value of any shape: of an object its name, of a list its first."""
    for _ in range(4):
        if isinstance(value, list):
            value = next((each for each in value if each), "")
        elif isinstance(value, dict):
            value = value.get("name") or value.get("@value") or value.get("value") or value.get("@id") or ""
        else:
            break
    if value is None or isinstance(value, bool | dict | list):
        return ""
    text = str(value)
    return squash(decoded(decoded(text)))


def amount_of(value: Any, currency: str = "") -> Decimal | None:
    """An amount as data holds it: a number, or text in which a point parts decimals; None for what is no amount."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _number(str(value))
    if isinstance(value, dict):
        return amount_of(value.get("@value") or value.get("value") or value.get("amount"), currency)
    text = squash(str(value))
    whole, point, decimals = text.partition(".")
    if point and whole.isdecimal() and decimals.isdecimal():
        groups = len(decimals) == _THOUSANDTHS and whole != "0" and currency in _WITHOUT_DECIMALS
        return _number(whole + decimals) if groups else _number(text)
    money = parse_money(text, page_currency=currency)
    return money.amount if money is not None and not money.per else None


def money_of(value: Any, currency: Any, page_currency: str = "") -> tuple[Decimal | None, str]:
    """An amount with its currency's code, from the two fields that data keeps them in."""
    code = currency_code(text_of(currency), page_currency) if currency else ""
    if not code and isinstance(value, str):
        money = parse_money(value, page_currency=page_currency)
        code = money.currency if isinstance(money, Money) else ""
    return amount_of(value, code or page_currency), code


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number < 10**12 else None


def first_field(claims: Iterable[PriceClaim], name: str) -> tuple[str, str]:
    """The first claim's word for a field, and where it stands."""
    for claim in claims:
        if value := claim.fields.get(name):
            return value, f"{claim.origin}/{claim.places.get(name, name)}"
    return "", ""


def is_of_one_product(claim: PriceClaim) -> bool:
    """Whether a claim is about one product: it has a price, or a title with something that only a product has."""
    if claim.origin == "meta":
        return False
    known = claim.fields
    return claim.price is not None or (
        "title" in known and any(name in known for name in ("availability", "sku", "gtin"))
    )
