"""What a page's meta tags say of its product: OpenGraph's and Facebook's price, stock and brand, and kin."""

from collections.abc import Mapping
from decimal import Decimal

from tidemill.core.record import Strategy
from tidemill.reading.currencies import currency_code
from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.money import parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, amount_of

_CONFIDENCE = 0.85
_PREFIXES = ("product:", "og:", "og:product:", "twitter:")
_PRICES = ("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price", "og:price",
           "og:product:price:amount", "twitter:data:price")  # fmt: skip
_LIST_PRICES = ("product:original_price:amount", "og:price:standard_amount", "product:pretax_price:amount")
_CURRENCIES = ("product:sale_price:currency", "product:price:currency", "og:price:currency", "product:currency",
               "og:currency", "og:product:price:currency")  # fmt: skip
_WORDS = {
    "title": ("og:title", "twitter:title"),
    "image": ("og:image", "og:image:secure_url", "twitter:image"),
    "url": ("og:url",),
    "brand": ("product:brand", "og:brand"),
    "availability": ("product:availability", "og:availability", "twitter:data:availability"),
    "sku": ("product:retailer_item_id", "product:retailer_part_no", "og:sku"),
    "mpn": ("product:mfr_part_no",),
    "description": ("og:description", "description"),
}
_GTINS = ("product:ean", "product:gtin", "product:upc", "product:isbn", "og:upc", "og:ean")


def tags_of(document: Document) -> dict[str, str]:
    """The meta tags of products and OpenGraph by name; the first of each."""
    found: dict[str, str] = {}
    for node in document.css("meta[content]"):
        attributes = node.attributes
        name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        content = squash(attributes.get("content") or "")
        if content and (name.startswith(_PREFIXES) or name == "description"):
            found.setdefault(name, content)
    for number in ("1", "2"):
        kind = _CARD_LABELS.get(found.get(f"twitter:label{number}", "").lower())
        if kind is not None and f"twitter:data{number}" in found:
            found[kind] = found[f"twitter:data{number}"]
    return found


_CARD_LABELS = {
    **dict.fromkeys(("price", "prijs", "preis", "prix", "precio", "prezzo", "preço", "cena"), "twitter:data:price"),
    **dict.fromkeys(("availability", "stock"), "twitter:data:availability"),
}
"""What cards that show two facts call those that are of use."""


def is_product_page(tags: Mapping[str, str]) -> bool:
    """Whether the page calls itself a product's."""
    return "product" in tags.get("og:type", "").lower() or any(name in tags for name in _PRICES)


def meta_claim(tags: Mapping[str, str], document: Document) -> PriceClaim | None:
    """What the tags claim; None if they say nothing of use."""
    if not tags:
        return None
    currency = next((code for name in _CURRENCIES if (code := currency_code(tags.get(name, "")))), "")
    name, price = _first_amount(tags, _PRICES, currency)
    if not currency and price is not None and (money := parse_money(tags[name])) is not None:
        currency = money.currency
    _, list_price = _first_amount(tags, _LIST_PRICES, currency)
    fields = {field: _first_value(tags, names) for field, names in _WORDS.items()}
    fields["gtin"] = next((gtin for each in _GTINS if each in tags and (gtin := as_gtin(tags[each]))), "")
    for link in ("image", "url"):
        fields[link] = document.absolute(fields[link]) if fields[link] else ""
    return PriceClaim(
        strategy=Strategy.MICRODATA,
        origin="meta",
        confidence=_CONFIDENCE,
        fields={field: value for field, value in fields.items() if value},
        places={"price": name, **{field: _first_name(tags, names) for field, names in _WORDS.items()}},
        price=price,
        currency=currency,
        list_price=list_price if list_price is not None and price is not None and list_price > price else None,
    )


def _first_amount(tags: Mapping[str, str], names: tuple[str, ...], currency: str) -> tuple[str, Decimal | None]:
    for name in names:
        if name in tags and (amount := amount_of(tags[name], currency)) is not None:
            return name, amount
    return "", None


def _first_value(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((tags[name] for name in names if name in tags), "")


def _first_name(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((name for name in names if name in tags), "")
