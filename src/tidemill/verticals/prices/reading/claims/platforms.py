"""How the common shop platforms mark up a product page: WooCommerce, Magento, Shopify, BigCommerce, PrestaShop."""

from decimal import Decimal

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.core.record import Strategy
from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.money import Money, parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.claims.claim import PriceClaim
from tidemill.verticals.prices.reading.shown.price_text import text_within

_CONFIDENCE = 0.88


class Platform(msgspec.Struct, frozen=True, kw_only=True):
    """A make of shop: how to know it, and where in its markup each thing stands; the first selector that finds wins."""

    name: str
    detected_by: str
    price: tuple[str, ...]
    listed: tuple[str, ...] = ()
    title: tuple[str, ...] = ("h1",)
    stock: tuple[str, ...] = ()
    sku: tuple[str, ...] = ()
    product_id: tuple[str, ...] = ()
    brand: tuple[str, ...] = ()


PLATFORMS = (
    Platform(
        name="woocommerce",
        detected_by="body.single-product, div.product .summary .price, .woocommerce div.product",
        price=(
            ".summary p.price ins .amount", ".summary .price ins .amount", "div.product p.price ins .amount",
            ".summary p.price > .amount", ".summary .price > .amount", ".summary .price > span > .amount",
            ".entry-summary .price .amount", "div.product p.price > .amount",
            ".elementor-widget-woocommerce-product-price .price ins .amount",
            ".elementor-widget-woocommerce-product-price .price > .amount",
        ),
        listed=(".summary .price del .amount", "div.product p.price del .amount", ".price del .amount"),
        title=("h1.product_title", "h1.entry-title", "h1"),
        stock=(".summary p.stock", ".summary .stock", "div.product p.stock", "p.stock"),
        sku=(".product_meta .sku", ".sku_wrapper .sku", ".summary .sku"),
        product_id=(
            "div.product[id^=product-]@id", "button[name=add-to-cart]@value", "input[name=add-to-cart]@value",
            "form.variations_form@data-product_id",
        ),
    ),
    Platform(
        name="magento",
        detected_by=".product-info-main, .catalog-product-view",
        price=(
            ".product-info-main .special-price [data-price-type=finalPrice]@data-price-amount",
            ".product-info-main [data-price-type=finalPrice]@data-price-amount",
            ".product-info-main .special-price .price", ".product-info-price .price-final_price .price",
            ".product-info-main .price-box .price", ".product-shop .special-price .price",
            ".product-shop .regular-price .price", ".product-essential .special-price .price",
            ".product-essential .regular-price .price",
        ),
        listed=(
            ".product-info-main [data-price-type=oldPrice]@data-price-amount", ".product-info-main .old-price .price",
            ".product-shop .old-price .price", ".product-essential .old-price .price",
        ),
        title=(".page-title-wrapper h1", "h1.page-title", ".product-name h1", "h1"),
        stock=(
            ".product-info-stock-sku .stock", ".product-info-main .stock", ".product-shop .availability",
            "p.availability",
        ),
        sku=(".product.attribute.sku .value", "[itemprop=sku]"),
        product_id=(".product-info-main .price-box@data-product-id", "input[name=product]@value"),
    ),
    Platform(
        name="shopify",
        detected_by="form[action*='/cart/add'] [name=id], .shopify-section .product, product-info",
        price=(
            ".product__info-wrapper .price--on-sale .price-item--sale",
            ".product .price--on-sale .price__sale .price-item--sale",
            ".product__info-wrapper .price__regular .price-item--regular",
            ".product__info-container .price__regular .price-item--regular",
            ".product-single__price--sale", "#ProductPrice", "#ProductPrice-product-template", ".product__price--sale",
            ".product__current-price", ".product-single__price", ".product-price__price", "[data-product-price]",
            ".product__price", "sale-price",
        ),
        listed=(
            ".product__info-wrapper .price--on-sale s.price-item--regular", ".product .price--on-sale .price__sale s",
            "#ComparePrice", ".product-single__price--compare", ".product__price--compare", "compare-at-price",
        ),
        title=("h1.product__title", ".product__title h1", "h1.product-single__title", "h1"),
        sku=(".product__sku", ".product-single__sku", "[data-product-sku]"),
    ),
    Platform(
        name="bigcommerce",
        detected_by=".productView",
        price=(
            ".productView-price [data-product-price-with-tax]", ".productView-price .price--withTax",
            ".productView-price [data-product-price-without-tax]", ".productView-price .price--withoutTax",
            ".productView-price .price--main",
        ),
        listed=(
            ".productView-price .price--non-sale", ".productView-price [data-product-non-sale-price-with-tax]",
            ".productView-price .price--rrp", ".productView-price [data-product-rrp-price-with-tax]",
        ),
        title=("h1.productView-title", "h1"),
        sku=("[data-product-sku]", ".productView-info-value--sku"),
        brand=(".productView-brand",),
        product_id=("input[name=product_id]@value",),
    ),
    Platform(
        name="prestashop",
        detected_by="body#product, .product-prices",
        price=(
            ".product-prices .current-price-value@content", ".product-prices .current-price [itemprop=price]@content",
            ".product-prices .current-price-value", ".product-prices .current-price > span", "#our_price_display",
        ),
        listed=(".product-prices .regular-price", "#old_price_display"),
        title=("h1[itemprop=name]", "h1"),
        stock=("#product-availability", "#availability_value"),
        sku=(".product-reference span", "[itemprop=sku]"),
        product_id=("#product_page_product_id@value", "input[name=id_product]@value"),
    ),
)  # fmt: skip
"""The platforms, tried in this order."""


_OF_ANY = ", ".join(
    (
        *(platform.detected_by for platform in PLATFORMS),
        "#product-details",
        "form[data-product_variations]",
        ".ProductItem, .sqs-block-product",
    )
)


def is_of_known_make(document: Document) -> bool:
    """Whether the page has the markup of any make: one search for all, since most pages have that of none."""
    return document.first(_OF_ANY) is not None


def platform_of(document: Document) -> Platform | None:
    """The platform whose markup the page has."""
    return next((platform for platform in PLATFORMS if document.first(platform.detected_by) is not None), None)


def platform_claim(document: Document, page_currency: str) -> PriceClaim | None:
    """What the markup of the page's platform says; None if it has none that we know."""
    platform = platform_of(document)
    return _claim(document, platform, page_currency) if platform is not None else None


def _claim(document: Document, platform: Platform, page_currency: str) -> PriceClaim:
    """What the platform's own markup says, each field by the first selector that finds it."""
    place, money = _first_money(document, platform.price, page_currency)
    _, listed = _first_money(document, platform.listed, page_currency)
    fields, places = {}, {"price": place}
    for name in ("title", "stock", "sku", "product_id", "brand"):
        selector, value = _first_text(document, getattr(platform, name))
        field = "availability" if name == "stock" else name
        fields[field], places[field] = value, selector
    fields["product_id"] = fields["product_id"].removeprefix("product-")
    if gtin := as_gtin(fields["sku"]) if fields["sku"] else None:
        fields["gtin"] = gtin
    price = money.amount if money is not None else None
    return PriceClaim(
        strategy=Strategy.SELECTORS,
        origin=platform.name,
        confidence=_CONFIDENCE,
        fields={name: value for name, value in fields.items() if value},
        places=places,
        price=price,
        currency=money.currency if money is not None else "",
        list_price=_above(listed, price),
        high=_range_of(document, place),
    )


def _above(listed: Money | None, price: Decimal | None) -> Decimal | None:
    return listed.amount if listed is not None and price is not None and listed.amount > price else None


def _first_money(document: Document, selectors: tuple[str, ...], page_currency: str) -> tuple[str, Money | None]:
    for selector in selectors:
        node, text = _picked(document, selector)
        if node is not None and (money := parse_money(text, page_currency=page_currency)) is not None and not money.per:
            return selector, money
    return "", None


def _first_text(document: Document, selectors: tuple[str, ...]) -> tuple[str, str]:
    for selector in selectors:
        _, text = _picked(document, selector)
        if text:
            return selector, text[:500]
    return "", ""


def _picked(document: Document, selector: str) -> tuple[LexborNode | None, str]:
    css, _, attribute = selector.partition("@")
    node = document.first(css)
    if node is None:
        return None, ""
    return node, squash(node.attributes.get(attribute) or "") if attribute else text_within(node)


def _range_of(document: Document, selector: str) -> Decimal | None:
    """The upper end, where the price's own element shows two that a dash joins: the variants' range."""
    node = document.first(selector.partition("@")[0]) if selector else None
    parent = node.parent if node is not None else None
    if parent is None or "\u2013" not in text_within(parent)[:60]:
        return None
    money = parse_money(text_within(parent))
    return money.high if money is not None else None
