"""What makes of shops write of a product into their pages for their own scripts: variants, numbers, stock.

WooCommerce keeps a product's variations in its form, Shopify its variants in the page's scripts, PrestaShop and
BigCommerce the whole product. The variant that the page's address or its form chooses is the one that is sold.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tidemill.core.record import Strategy
from tidemill.reading.currencies import currency_code
from tidemill.reading.document import Document
from tidemill.reading.embedded_json import values_in
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, amount_of, text_of

_CHOSEN, _TOLD = 0.96, 0.86
"""How far such data is trusted: a variant that the address names, and what it tells of the product as a whole."""
_LONGEST_SCRIPT, _MOST_SCRIPTS, _MOST_VARIANTS = 600_000, 12, 400

Item = Mapping[str, Any]


class _Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One variant as its make tells it; `keys` are what the page's address chooses it by."""

    keys: frozenset[tuple[str, str]]
    price: Decimal | None = None
    list_price: Decimal | None = None
    fields: Mapping[str, str] = msgspec.field(default_factory=dict)


def make_claims(document: Document, currency: str, *, is_known: bool) -> tuple[list[PriceClaim], list[PriceClaim]]:
    """What is surer than the page's structured data, as the address chose it, and what is less so.

    A page that is not of a known make is only searched for Shopify's variants, whose themes are many.
    """
    surer: list[PriceClaim] = []
    others: list[PriceClaim] = []
    for origin, variants, shown in _found(document, is_known=is_known):
        by_address = _chosen(variants, set(parse_qsl(urlsplit(document.url).query)[:_MOST_PARAMETERS]))
        if by_address is not None and len(variants) > 1:
            passed = frozenset(each.price for each in variants if each is not by_address and each.price is not None)
            claim = _claim(by_address, f"{origin}/the variant of the address", currency, _CHOSEN)
            surer.append(msgspec.structs.replace(claim, passed_over=passed))
        elif (variant := variants[0] if len(variants) == 1 else _chosen(variants, shown)) is not None:
            others.append(_claim(variant, origin, currency, _TOLD))
        elif (shared := _shared(variants)) is not None:
            others.append(_claim(shared, origin, currency, _TOLD))
    return surer, others


_MOST_PARAMETERS = 20


def _found(document: Document, *, is_known: bool) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    """The variants that each make's data tells, with what the page's own form has chosen."""
    markup = document.markup
    if '"variants"' in markup and ("hopify" in markup or "/cart/add" in markup):
        yield from _of_shopify(document)
    if not is_known:
        return
    yield from _of_woocommerce(document)
    yield from _of_prestashop(document)
    if "salePrice" in markup:
        yield from _of_squarespace(document)
    if "BCData" in markup:
        yield from _of_bigcommerce(document)


def _claim(variant: _Variant, origin: str, currency: str, confidence: float) -> PriceClaim:
    price, listed = variant.price, variant.list_price
    return PriceClaim(
        strategy=Strategy.SELECTORS,
        origin=origin,
        confidence=confidence,
        fields={name: value for name, value in variant.fields.items() if value},
        price=price,
        currency=currency if price is not None else "",
        list_price=listed if listed is not None and price is not None and listed > price else None,
    )


def _chosen(variants: Sequence[_Variant], asked: set[tuple[str, str]]) -> _Variant | None:
    """The one variant whose keys are all asked for; None when none is, or several are."""
    named = [variant for variant in variants if variant.keys and variant.keys <= asked]
    return named[0] if len(named) == 1 else None


def _shared(variants: Sequence[_Variant]) -> _Variant | None:
    """What all variants have in common: their price, and that none of them is left."""
    prices = {variant.price for variant in variants}
    states = {variant.fields.get("availability", "") for variant in variants}
    if not variants:
        return None
    gone = {"availability": Availability.OUT_OF_STOCK.value} if states == {Availability.OUT_OF_STOCK.value} else {}
    price = prices.pop() if len(prices) == 1 else None
    former = {variant.list_price for variant in variants}
    listed = former.pop() if len(former) == 1 else None
    shared = _Variant(keys=frozenset(), price=price, list_price=listed, fields=gone)
    return shared if price is not None or gone else None


def _stock(there: object) -> str:
    if not isinstance(there, bool):
        return ""
    return (Availability.IN_STOCK if there else Availability.OUT_OF_STOCK).value


def _of_woocommerce(document: Document) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    form = document.first("form[data-product_variations]")
    items = _decoded(form.attributes.get("data-product_variations") or "") if form is not None else None
    if form is None or not isinstance(items, list):
        return
    picked = {
        (select.attributes.get("name") or "", option.attributes.get("value") or "")
        for select in form.css("select[name^=attribute_]")[:_MOST_PARAMETERS]
        if (option := select.css_first("option[selected]")) is not None
    }
    variants = [_woo_variant(item) for item in items[:_MOST_VARIANTS] if isinstance(item, dict)]
    yield "woocommerce/variations", variants, {each for each in picked if each[1]}


def _woo_variant(item: Item) -> _Variant:
    attributes = item.get("attributes")
    keys = [(str(name), str(value)) for name, value in attributes.items()] if isinstance(attributes, dict) else []
    return _Variant(
        keys=frozenset(key for key in keys if key[1]),
        price=amount_of(item.get("display_price")),
        list_price=amount_of(item.get("display_regular_price")),
        fields={"sku": text_of(item.get("sku")), "availability": _stock(item.get("is_in_stock"))},
    )


def _of_shopify(document: Document) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    for text in _scripts(document, '"variants"'):
        for value in values_in(text):
            product = _with_variants(value)
            if product is None:
                continue
            node = document.first("form[action*='/cart/add'] [name=id]")
            option = node.css_first("option[selected]") if node is not None and node.tag == "select" else node
            shown = (option.attributes.get("value") or "") if option is not None else ""
            items = [item for item in product["variants"][:_MOST_VARIANTS] if isinstance(item, dict)]
            yield "shopify/variants", [_shopify_variant(item, product) for item in items], {("variant", shown)}
            return


def _with_variants(value: Any) -> Item | None:
    """Shopify's own product: it, or the `product` of its page, with variants that have a number and a price."""
    for item in (value, value.get("product") if isinstance(value, dict) else None):
        variants = item.get("variants") if isinstance(item, dict) else None
        first = variants[0] if isinstance(variants, list) and variants else None
        if isinstance(first, dict) and isinstance(first.get("id"), int) and "price" in first:
            return item
    return None


def _shopify_variant(item: Item, product: Item) -> _Variant:
    listed = item["compare_at_price"] if "compare_at_price" in item else product.get("compare_at_price")
    barcode = as_gtin(text_of(item.get("barcode"))) or ""
    return _Variant(
        keys=frozenset({("variant", str(item.get("id")))}),
        price=_hundredths(item.get("price")),
        list_price=_hundredths(listed),
        fields={"sku": text_of(item.get("sku")), "gtin": barcode, "availability": _stock(item.get("available"))},
    )


def _hundredths(value: object) -> Decimal | None:
    """An amount of Shopify: whole numbers are hundredths, in every currency."""
    amount = amount_of(value)
    return amount / 100 if amount is not None and isinstance(value, int) else amount


def _of_prestashop(document: Document) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    node = document.first("#product-details[data-product]")
    item = _decoded(node.attributes.get("data-product") or "") if node is not None else None
    if isinstance(item, dict):
        fields = {
            "sku": text_of(item.get("reference_to_display") or item.get("reference")),
            "gtin": as_gtin(text_of(item.get("ean13"))) or as_gtin(text_of(item.get("upc"))) or "",
            "product_id": text_of(item.get("id_product")),
            "brand": text_of(item.get("manufacturer_name")),
        }
        yield "prestashop/product", [_Variant(keys=frozenset(), fields=fields)], set()


def _of_squarespace(document: Document) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    node = document.first("[data-product*=variants], [data-variants]")
    text = (
        (node.attributes.get("data-product") or node.attributes.get("data-variants") or "") if node is not None else ""
    )
    value = _decoded(text) if text else None
    items = value.get("variants") if isinstance(value, dict) else value
    if isinstance(items, list):
        found = [_squarespace_variant(item) for item in items[:_MOST_VARIANTS] if isinstance(item, dict)]
        yield "squarespace/variants", found, set()


def _squarespace_variant(item: Item) -> _Variant:
    full, reduced = _hundredths(item.get("price")), _hundredths(item.get("salePrice"))
    price = reduced if item.get("onSale") is True and reduced else full
    quantity = item.get("qtyInStock")
    there = item.get("unlimited") is True or (isinstance(quantity, int) and quantity > 0)
    known = item.get("unlimited") is True or isinstance(quantity, int)
    return _Variant(
        keys=frozenset(),
        price=price,
        list_price=full if price != full else None,
        fields={"sku": text_of(item.get("sku")), "availability": _stock(there) if known else ""},
    )


def _of_bigcommerce(document: Document) -> Iterator[tuple[str, Sequence[_Variant], set[tuple[str, str]]]]:
    for text in _scripts(document, "BCData"):
        for value in values_in(text):
            item = value.get("product_attributes") if isinstance(value, dict) else None
            if not isinstance(item, dict):
                continue
            prices = item.get("price") if isinstance(item.get("price"), dict) else {}
            told = prices.get("with_tax") or prices.get("without_tax") if isinstance(prices, dict) else None
            fields = {
                "sku": text_of(item.get("sku")),
                "gtin": as_gtin(text_of(item.get("gtin"))) or as_gtin(text_of(item.get("upc"))) or "",
                "mpn": text_of(item.get("mpn")),
                "availability": _stock(item.get("instock")),
            }
            price = amount_of(told.get("value")) if isinstance(told, dict) else None
            yield "bigcommerce/product", [_Variant(keys=frozenset(), price=price or None, fields=fields)], set()
            return


def _scripts(document: Document, sign: str) -> Iterator[str]:
    count = 0
    for node in document.css("script"):
        text = "" if node.attributes.get("src") else node.text(deep=True) or ""
        if sign in text and len(text) <= _LONGEST_SCRIPT:
            yield text
            count += 1
            if count >= _MOST_SCRIPTS:
                return


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode()) if len(text) <= _LONGEST_SCRIPT else None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def named_currency(document: Document) -> str:
    """The currency that Shopify's pages say is active; '' elsewhere."""
    at = document.markup.find("Shopify.currency")
    if at < 0:
        return ""
    value = next(values_in(document.markup[at : at + 200].partition(";")[0]), None)
    return currency_code(text_of(value.get("active"))) if isinstance(value, dict) else ""
