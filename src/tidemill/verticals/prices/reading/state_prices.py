"""What an object in a page's script costs, however deep it keeps that: `prices.selling.amount`, or whole cents."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from tidemill.reading.currencies import currency_code
from tidemill.verticals.prices.reading.claims import amount_of, text_of

_PRICED = re.compile(r"pric|offer|cost|amount|selling|current|sale|final|now", re.IGNORECASE)
_ASKED = re.compile(r"sale|current|selling|final|activity|discount|special|promo|now|offer", re.IGNORECASE)
_LISTED = re.compile(r"list|original|old|was|regular|strike|rrp|msrp|compare|before|previous|retail", re.IGNORECASE)
_OTHER = re.compile(
    r"unit|per|save|saving|shipping|delivery|tax|vat|max|high|point|percent|member|instal|month|deposit|rule|type|id$",
    re.IGNORECASE,
)
_VALUES = ("value", "amount", "price", "gross", "raw")
_CURRENCIES = ("currency", "currencycode", "pricecurrency", "currencyisocode", "currency_code", "currencyunit")
_DEEPEST, _MOST = 3, 200


class StatePrice(msgspec.Struct, frozen=True, kw_only=True):
    """An amount under its path of keys, with the currency that stands beside it."""

    path: str
    amount: Decimal
    currency: str = ""

    @property
    def is_listed(self) -> bool:
        """Whether its keys call it a former or a recommended price."""
        return _LISTED.search(self.path) is not None

    @property
    def is_asked(self) -> bool:
        """Whether its keys call it what is asked now."""
        return _ASKED.search(self.path) is not None


def price_within(item: Mapping[str, Any], near: str) -> tuple[StatePrice | None, Decimal | None]:
    """The one price that an object's nested parts ask, and its list price; None where they ask several."""
    found = list(_amounts(item, "", near, 0))
    plain = [one for one in found if not one.is_listed]
    asked = [one for one in plain if one.is_asked] or plain
    if len({one.amount for one in asked}) != 1 or not asked[0].amount:
        return None, None
    higher = {one.amount for one in found if one.amount > asked[0].amount}
    return asked[0], higher.pop() if len(higher) == 1 else None


def _amounts(item: Mapping[str, Any], path: str, near: str, depth: int) -> Iterator[StatePrice]:
    for key, value in list(item.items())[:_MOST]:
        if not isinstance(value, dict) or not (path or _PRICED.search(key)) or _OTHER.search(key):
            continue
        inner = {str(name).lower(): each for name, each in value.items()}
        here = f"{path}/{key}"
        one = _amount(inner, here, near)
        if one is not None:
            yield one
        elif depth < _DEEPEST:
            yield from _amounts(inner, here, near, depth + 1)


def _amount(item: Mapping[str, Any], path: str, near: str) -> StatePrice | None:
    """The amount of an object that is one: a value with its currency, or whole cents with the number of decimals."""
    currency = next((code for key in _CURRENCIES if (code := currency_code(text_of(item.get(key)), near))), "")
    if not currency:
        return None
    cents, digits = item.get("centamount"), item.get("fractiondigits", 2)
    if isinstance(cents, int) and isinstance(digits, int) and 0 <= digits <= 4:  # noqa: PLR2004 - no currency has more
        return StatePrice(path=f"{path}/centAmount", amount=Decimal(cents).scaleb(-digits), currency=currency)
    key = next((key for key in _VALUES if isinstance(item.get(key), int | float | str)), "")
    amount = amount_of(item[key], currency) if key else None
    return StatePrice(path=f"{path}/{key}", amount=amount, currency=currency) if amount is not None else None
