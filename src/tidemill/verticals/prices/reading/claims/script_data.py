"""Products in a page's scripts: a shop's own JSON, a data layer, the state of a single-page application.

No site's variables are known here. What counts is the shape: an object that bears the product's own title and a price.
"""

import re
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tidemill.core.identity import normalized
from tidemill.core.record import Strategy
from tidemill.reading.currencies import currency_code
from tidemill.reading.currency_codes import CODES
from tidemill.reading.document import Document
from tidemill.reading.embedded_json import values_in
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, amount_of, text_of
from tidemill.verticals.prices.reading.claims.script_prices import nested_price

_CONFIDENCE = 0.8
_TITLES = ("name", "title", "productname", "item_name", "producttitle", "displayname", "product_name", "subject")
_PRICES = (
    "saleprice", "currentprice", "finalprice", "sellingprice", "final_price", "sale_price", "price", "priceamount",
    "current_price", "salesprice", "product_price", "productprice", "unit_price", "product_unit_price",
)  # fmt: skip
_LIST_PRICES = (
    "compare_at_price", "listprice", "originalprice", "regularprice", "regular_price", "list_price", "wasprice",
    "oldprice", "old_price", "original_price", "msrp", "rrp", "mrp", "was_price", "strikeprice",
    "product_original_price", "product_old_price", "product_list_price", "previousprice", "baseprice",
    "fullprice", "compareatprice",
)  # fmt: skip
_CURRENCIES = ("currency", "currencycode", "pricecurrency", "currency_code", "currencyisocode", "isocurrencycode",
               "currencyunit")  # fmt: skip
_SKUS = ("sku", "item_id", "productcode", "articlenumber", "usitemid", "tcin", "itemnumber", "productid", "product_id")
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "ean", "ean13", "upc", "barcode", "primary_barcode", "isbn", "isbn13")
_STOCKED = ("available", "instock", "isinstock", "in_stock", "isavailable")
_STOCK_WORDS = ("availability", "availabilitystatus", "stockstatus", "stock_status", "product_availability")
_BRANDS = ("brand", "brandname", "brand_name", "vendor", "product_brand", "item_brand", "manufacturer")
_WITHIN = ("formatted", "value", "amount", "current", "final", "current_retail", "currentprice", "current_price",
           "selling", "sale", "now", "gross")  # fmt: skip
_TITLE_KEY = re.compile(r"[\"']?(?:name|title|item_name|productName|subject)\\?[\"']?\s*:", re.IGNORECASE)
_PRICE_KEY = re.compile(r"price", re.IGNORECASE)
_LARGEST, _MOST_SCRIPTS, _MOST_VALUES, _MOST_PARTS = 1_500_000, 60, 40_000, 20
_DISTINCTIVE_LENGTH = 12
"""Characters from which on the beginning of a title is enough to know it by."""


def script_claim(document: Document, title: str, currency: str) -> PriceClaim | None:
    """The first object in a script that bears the title and a price that can be read for sure."""
    wanted = normalized(title)
    if not wanted:
        return None
    for index, text in enumerate(_scripts(document)):
        for path, item in _objects(text, wanted):
            claim = _claim(item, f"script/{index}{path}", currency)
            if claim is not None:
                return claim
    return None


def _scripts(document: Document) -> Iterator[str]:
    count = 0
    for node in document.css("script"):
        kind = (node.attributes.get("type") or "").lower()
        if "ld+json" in kind or node.attributes.get("src"):
            continue
        text = node.text(deep=True) or ""
        if len(text) < _LARGEST and _TITLE_KEY.search(text) and _PRICE_KEY.search(text):
            count += 1
            yield text
            if count >= _MOST_SCRIPTS:
                return


def _objects(text: str, wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object that bears the title, with what it inherits: the currency that an object around it names."""
    for value in values_in(text):
        pending: deque[tuple[str, Any, str]] = deque([("", value, "")])
        for _ in range(_MOST_VALUES):
            if not pending:
                break
            path, current, currency = pending.popleft()
            if isinstance(current, dict):
                lowered = {str(key).lower(): each for key, each in current.items()}
                currency = _currency_in(lowered) or currency
                if any(_is_titled(text_of(lowered.get(key)), wanted) for key in _TITLES if lowered.get(key)):
                    yield path, {"currency": currency, **lowered} if currency else lowered
                elif (joined := _joined_with_title(lowered, wanted)) is not None:
                    yield path, joined
                pending.extend((f"{path}/{key}", each, currency) for key, each in current.items() if _is_nested(each))
            elif isinstance(current, list):
                pending.extend((f"{path}/{at}", each, currency) for at, each in enumerate(current) if _is_nested(each))


def _joined_with_title(item: dict[str, Any], wanted: str) -> dict[str, Any] | None:
    """An object that keeps the title in one part and the price in another, as modules of a page do; with its title."""
    for part in item.values():
        if not isinstance(part, dict):
            continue
        title = _title_within(part)
        if title and _is_titled(title, wanted) and not any(_PRICE_KEY.search(str(key)) for key in part):
            return {**item, "title": title}
    return None


def _title_within(part: dict[str, Any]) -> str:
    """The title that a part of an object keeps, itself or in a part of its own."""
    for one in (part, *(each for each in list(part.values())[:_MOST_PARTS] if isinstance(each, dict))):
        if title := next((text for key in _TITLES if (text := text_of(one.get(key)))), ""):
            return title
    return ""


def _is_titled(title: str, wanted: str) -> bool:
    """Whether it is the same title; a long one may be told with more, or less, behind it."""
    known = normalized(title)
    if known == wanted:
        return True
    short = min(len(known), len(wanted))
    return short >= _DISTINCTIVE_LENGTH and known[:short] == wanted[:short]


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _currency_in(item: dict[str, Any]) -> str:
    return next((code for key in _CURRENCIES if (code := currency_code(text_of(item.get(key))))), "")


_CURRENCY_IN_SCRIPT = re.compile(r"""urrency(?:_?[cC]ode)?\\?["']?\s{0,3}[:=]\s{0,3}\\?["']([A-Z]{3})\b""")


def script_currency(document: Document) -> str:
    """The currency that the page's scripts name, if they name one and no other."""
    codes = {match[1] for match in _CURRENCY_IN_SCRIPT.finditer(document.markup)} & CODES
    return codes.pop() if len(codes) == 1 else ""


def _claim(item: dict[str, Any], origin: str, page_currency: str) -> PriceClaim | None:
    currency = _currency_in(item) or page_currency
    in_cents = "variants" in item and "handle" in item  # Shopify's own shape: whole numbers are cents
    key, price = _first_amount(item, _PRICES, currency, in_cents=in_cents)
    _, list_price = _first_amount(item, _LIST_PRICES, currency, in_cents=in_cents)
    if price is None:
        nested, list_price = nested_price(item, currency)
        if nested is None:
            return None
        key, price, currency = nested.path.lstrip("/"), nested.amount, nested.currency or currency
    fields = _fields(item)
    if in_cents and item.get("id"):
        fields["product_id"] = text_of(item["id"])
    return PriceClaim(
        strategy=Strategy.SELECTORS,
        origin=origin,
        confidence=_CONFIDENCE,
        fields={name: value for name, value in fields.items() if value},
        places={"price": key},
        price=price,
        currency=currency,
        list_price=list_price if list_price is not None and list_price > price else None,
    )


def _fields(item: dict[str, Any]) -> dict[str, str]:
    """What the object says beside its price, itself or in the part that keeps identifiers."""
    parts = [
        item,
        *({str(key).lower(): each for key, each in part.items()} for part in item.values() if _holds_identifiers(part)),
    ]
    stocked = next((item[key] for key in _STOCKED if isinstance(item.get(key), bool)), None)
    fields = {
        "title": next((text for key in _TITLES if (text := text_of(item.get(key)))), ""),
        "sku": next((text_of(part[key]) for part in parts for key in _SKUS if part.get(key)), ""),
        "gtin": next((gtin for part in parts for key in _GTINS if (gtin := as_gtin(text_of(part.get(key))))), ""),
        "brand": next((text for key in _BRANDS if (text := text_of(item.get(key)))), ""),
        "availability": next((item[key] for key in _STOCK_WORDS if isinstance(item.get(key), str)), ""),
    }
    if stocked is not None:
        fields["availability"] = Availability.IN_STOCK if stocked else Availability.OUT_OF_STOCK
    return fields


def _holds_identifiers(part: Any) -> bool:
    return isinstance(part, dict) and any(str(key).lower() in {*_SKUS, *_GTINS} for key in part)


def _first_amount(
    item: dict[str, Any], keys: tuple[str, ...], currency: str, *, in_cents: bool
) -> tuple[str, Decimal | None]:
    for key in keys:
        value = item.get(key)
        if isinstance(value, dict):
            lowered = {str(name).lower(): each for name, each in value.items()}
            value = next((lowered[name] for name in _WITHIN if isinstance(lowered.get(name), int | float | str)), None)
        amount = amount_of(value, currency) if value not in (None, "", 0) else None
        if amount is not None:
            return key, amount / 100 if in_cents and isinstance(value, int) else amount
    return "", None
