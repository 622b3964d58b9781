"""How each make of shop writes a product page, and what it writes instead when it is redesigned or has nothing."""

import json
from html import escape

import msgspec

from tidemill.reading.currency_codes import in_units
from tidemill.verticals.prices.lab.goods import Goods, State
from tidemill.verticals.prices.lab.shop import LISTING, Shop, ShopMake

_SIGNS = {"USD": "$", "GBP": "£", "EUR": "€"}


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """A product page to be written: whose, of what, in which state and currency."""

    shop: Shop
    goods: Goods
    state: State
    currency: str

    @property
    def hides_price(self) -> bool:
        """Whether the shop takes the price away with the stock."""
        return self.goods.hides_price and not self.state.in_stock

    def money(self, cents: int) -> str:
        """An amount as the shop writes it."""
        return f"{_SIGNS[self.currency]}{in_units(cents, self.currency):,}"


def product_page(showing: Showing, *, redesigned: bool) -> str:
    """The page of one product."""
    writer = _redesigned if redesigned else _WRITERS[showing.shop.make]
    return writer(showing)


def listing_page(shop: Shop, states: list[tuple[Goods, State]]) -> str:
    """The page that lists everything: what a discontinued product's address leads to."""
    cards = "".join(
        f'<li class="product type-product"><a href="{shop.path_of(goods)}"><img src="/media/{goods.sku}.jpg" alt="">'
        f"<h2>{escape(goods.title)}</h2></a>"
        f'<span class="price"><span class="amount">{_amount(shop, state)}</span></span></li>'
        for goods, state in states
    )
    return _whole(shop, "All ammunition", f'<h1>All ammunition</h1><ul class="products">{cards}</ul>', "archive")


def captcha_page(shop: Shop) -> str:
    """What the shop shows to those whom it takes for a robot."""
    main = (
        "<h1>Access denied</h1><p>Please verify that you are a human: solve the captcha to continue.</p>"
        '<div class="g-recaptcha" data-sitekey="lab"></div>'
    )
    return f"<!doctype html><html><head><title>{escape(shop.name)}</title></head><body>{main}</body></html>"


def notice_page(shop: Shop, words: str) -> str:
    """A page that says one thing."""
    return _whole(shop, words, f"<h1>{escape(words)}</h1>", "notice")


def _amount(shop: Shop, state: State) -> str:
    return f"{_SIGNS[shop.currency]}{in_units(state.price_cents, shop.currency):,}"


def _whole(shop: Shop, title: str, main: str, kind: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)} - {escape(shop.name)}</title>"
        f'{head}</head><body class="{kind}"><header class="site-header"><a href="/">{escape(shop.name)}</a>'
        '<nav><a href="/shop">Shop</a><a href="/about">About</a></nav><div class="mini-cart">Cart: $0.00</div></header>'
        f"<main>{main}</main><footer><p>Free shipping on orders over $150.00</p></footer></body></html>"
    )


def _woocommerce(page: Showing) -> str:
    goods, state = page.goods, page.state
    button = f'<button type="submit" name="add-to-cart" value="{1000 + goods.number}">Add to cart</button>'
    stock = (
        '<p class="stock in-stock">In stock</p>' if state.in_stock else '<p class="stock out-of-stock">Out of stock</p>'
    )
    per_round = "" if page.hides_price else f"<p>{state.price_cents / goods.rounds:.1f}¢ per round</p>"
    summary = (
        f'<div class="summary entry-summary"><h1 class="product_title entry-title">{escape(goods.title)}</h1>'
        f'<p class="price">{_woo_price(page)}</p>{per_round}{stock}{_tiers(page)}'
        f'<form class="cart">{button if state.in_stock else ""}</form>'
        '<div class="product_meta"><span class="sku_wrapper">SKU: '
        f'<span class="sku">{goods.sku}</span></span></div></div>'
    )
    table = _attributes(goods)
    main = (
        f'<div id="product-{1000 + goods.number}" class="product type-product">{summary}{table}{_related(page)}</div>'
    )
    return _whole(page.shop, goods.title, main, "single-product woocommerce")


def _woo_price(page: Showing) -> str:
    if page.hides_price:
        return ""
    amount = f'<span class="woocommerce-Price-amount amount">{page.money(page.state.price_cents)}</span>'
    if page.state.list_price_cents is None:
        return amount
    old = f'<span class="woocommerce-Price-amount amount">{page.money(page.state.list_price_cents)}</span>'
    return f"<del>{old}</del> <ins>{amount}</ins>"


def _magento(page: Showing) -> str:
    goods, state = page.goods, page.state
    words = ("available", "In stock") if state.in_stock else ("unavailable", "Out of stock")
    button = '<button type="submit" class="action primary tocart" id="product-addtocart-button">Add to Cart</button>'
    info = (
        '<div class="product-info-main"><div class="page-title-wrapper">'
        f'<h1 class="page-title">{escape(goods.title)}</h1></div>'
        f'<div class="product-info-price">{_magento_price(page)}<div class="product-info-stock-sku">'
        f'<div class="stock {words[0]}"><span>{words[1]}</span></div><div class="product attribute sku">'
        f'<strong class="type">SKU</strong><div class="value">{goods.sku}</div></div></div></div>{_tiers(page)}'
        f"{_sizes(page)}{button if state.in_stock else ''}</div>"
    )
    table = f'<table class="additional-attributes"><tr><th>UPC</th><td data-th="UPC">{goods.upc}</td></tr></table>'
    return _whole(page.shop, goods.title, info + table + _related(page), "catalog-product-view")


def _magento_price(page: Showing) -> str:
    if page.hides_price:
        return ""
    final = in_units(page.state.price_cents, page.currency)
    price = (
        f'<meta itemprop="priceCurrency" content="{page.currency}">'
        f'<span data-price-type="finalPrice" data-price-amount="{final}" class="price-wrapper">'
        f'<span class="price">{page.money(page.state.price_cents)}</span></span>'
    )
    if page.state.list_price_cents is None:
        return f'<div class="price-box price-final_price" data-product-id="{page.goods.number}">{price}</div>'
    old = in_units(page.state.list_price_cents, page.currency)
    return (
        f'<div class="price-box price-final_price" data-product-id="{page.goods.number}">'
        f'<span class="special-price">{price}</span>'
        f'<span class="old-price"><span data-price-type="oldPrice" data-price-amount="{old}">'
        f'<span class="price">{page.money(page.state.list_price_cents)}</span></span></span></div>'
    )


def _plain(page: Showing) -> str:
    goods, state = page.goods, page.state
    offer: dict[str, object] = {
        "@type": "Offer",
        "availability": f"https://schema.org/{'InStock' if state.in_stock else 'OutOfStock'}",
    }
    if not page.hides_price:
        offer |= {"price": str(in_units(state.price_cents, page.currency)), "priceCurrency": page.currency}
    data = {
        "@context": "https://schema.org", "@type": "Product", "name": goods.title, "sku": goods.sku,
        "gtin12": goods.upc,
        "brand": {"@type": "Brand", "name": goods.brand}, "image": f"/media/{goods.sku}.jpg", "offers": offer,
    }  # fmt: skip
    block = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    price = "" if page.hides_price else f"<p><b>{page.money(state.price_cents)}</b></p>"
    main = f"<h1>{escape(goods.title)}</h1>{price}{_tiers(page)}{_sizes(page)}{_attributes(goods)}{_related(page)}"
    return _whole(page.shop, goods.title, main, "page", block)


def _tiers(page: Showing) -> str:
    if not page.goods.has_tiers or page.hides_price:
        return ""
    prices = [
        (span, round(page.state.price_cents * share)) for span, share in (("1-4", 1), ("5-9", 0.97), ("10+", 0.94))
    ]
    rows = "".join(f"<tr><td>{span}</td><td>{page.money(cents)}</td></tr>" for span, cents in prices)
    return f'<table class="tier-prices"><tr><th>Quantity</th><th>Price</th></tr>{rows}</table>'


def _sizes(page: Showing) -> str:
    if not page.goods.has_sizes or page.hides_price:
        return ""
    larger = page.money(page.state.price_cents * 5)
    return f'<select name="size"><option>Box</option><option>Case of five (+{larger})</option></select>'


def _attributes(goods: Goods) -> str:
    rows = {"Caliber": goods.caliber, "Rounds": str(goods.rounds), "UPC": goods.upc, "Brand": goods.brand}
    cells = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f'<table class="shop_attributes">{cells}</table>'


def _related(page: Showing) -> str:
    """Other products with prices of their own, which are not this one's."""
    others = [page.shop.goods[(page.goods.number + step) % len(page.shop.goods)] for step in (1, 2, 3)]
    cards = "".join(
        f'<li class="product"><a href="{page.shop.path_of(other)}"><img src="/media/{other.sku}.jpg" alt="">'
        f'<h3>{escape(other.title)}</h3></a><span class="price">{page.money(other.price_cents)}</span></li>'
        for other in others
    )
    return f'<section class="related products"><h2>Related products</h2><ul>{cards}</ul></section>'


def _redesigned(page: Showing) -> str:
    """Other markup, other names, no data: what no selector of before finds its way in."""
    state = page.state
    price = "" if page.hides_price else f'<div class="x-tag">{page.money(state.price_cents)}</div>'
    words = "Ready to ship" if state.in_stock else "Sold out"
    main = (
        f'<article class="x-item"><h2 class="x-name">{escape(page.goods.title)}</h2>{price}<em>{words}</em></article>'
    )
    return _whole(page.shop, page.goods.title, f"{main}<p>See all at <a href='{LISTING}'>the shop</a>.</p>", "x")


_WRITERS = {ShopMake.WOOCOMMERCE: _woocommerce, ShopMake.MAGENTO: _magento, ShopMake.PLAIN: _plain}
