"""What an object in a page's script costs, however deep it keeps that: `prices.selling.amount`, or whole cents."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from tidemill.reading.currencies import currency_code
from tidemill.verticals.prices.reading.claims.claim import amount_of, text_of

_PRICED = re.compile(r"pric|offer|cost|amount|selling|current|sale|final|now", re.IGNORECASE)
_CURRENT = re.compile(r"sale|current|selling|final|activity|discount|special|promo|now|offer", re.IGNORECASE)
_LIST = re.compile(r"list|original|old|was|regular|strike|rrp|msrp|compare|before|previous|retail", re.IGNORECASE)
_OTHER = re.compile(
    r"unit|per|save|saving|shipping|delivery|tax|vat|max|high|point|percent|member|instal|month|deposit|rule|type|id$",
    re.IGNORECASE,
)
_VALUES = ("value", "amount", "price", "gross", "raw")
_CURRENCIES = ("currency", "currencycode", "pricecurrency", "currencyisocode", "currency_code", "currencyunit")
_DEEPEST, _MOST = 3, 200


class ScriptPrice(msgspec.Struct, frozen=True, kw_only=True):
    """An amount under its path of keys, with the currency that stands beside it."""

    path: str
    amount: Decimal
    currency: str = ""

    @property
    def is_list_price(self) -> bool:
        """Whether its keys call it a former or a recommended price."""
        return _LIST.search(self.path) is not None

    @property
    def is_current(self) -> bool:
        """Whether its keys call it what is asked now."""
        return _CURRENT.search(self.path) is not None


def nested_price(item: Mapping[str, Any], page_currency: str) -> tuple[ScriptPrice | None, Decimal | None]:
    """The one price that an object's nested parts ask, and its list price; None where they ask several."""
    found = list(_amounts(item, "", page_currency, 0))
    plain = [one for one in found if not one.is_list_price]
    current = [one for one in plain if one.is_current] or plain
    if len({one.amount for one in current}) != 1 or not current[0].amount:
        return None, None
    higher = {one.amount for one in found if one.amount > current[0].amount}
    return current[0], higher.pop() if len(higher) == 1 else None


def _amounts(item: Mapping[str, Any], path: str, page_currency: str, depth: int) -> Iterator[ScriptPrice]:
    for key, value in list(item.items())[:_MOST]:
        if not isinstance(value, dict) or not (path or _PRICED.search(key)) or _OTHER.search(key):
            continue
        inner = {str(name).lower(): each for name, each in value.items()}
        here = f"{path}/{key}"
        one = _amount(inner, here, page_currency)
        if one is not None:
            yield one
        elif depth < _DEEPEST:
            yield from _amounts(inner, here, page_currency, depth + 1)


def _amount(item: Mapping[str, Any], path: str, page_currency: str) -> ScriptPrice | None:
    """The amount of an object that is one: a value with its currency, or whole cents with the number of decimals."""
    currency = next((code for key in _CURRENCIES if (code := currency_code(text_of(item.get(key)), page_currency))), "")
    if not currency:
        return None
    cents, digits = item.get("centamount"), item.get("fractiondigits", 2)
    if isinstance(cents, int) and isinstance(digits, int) and 0 <= digits <= 4:  # noqa: PLR2004 - no currency has more
        return ScriptPrice(path=f"{path}/centAmount", amount=Decimal(cents).scaleb(-digits), currency=currency)
    key = next((key for key in _VALUES if isinstance(item.get(key), int | float | str)), "")
    amount = amount_of(item[key], currency) if key else None
    return ScriptPrice(path=f"{path}/{key}", amount=amount, currency=currency) if amount is not None else None
