"""What makes of shops tell of a product beside its price: the chosen variant, its number and its stock."""

import json
from decimal import Decimal
from html import escape

import pytest

from tidemill.reading.stock import Availability, stock_line
from tidemill.verticals.prices.reading import Product, read_product

ARC_LAMP = [
    {"id": 4001, "price": 15000, "name": "Arc Lamp - Black", "sku": "AL-BLK", "available": True},
    {"id": 4002, "price": 12000, "name": "Arc Lamp - White", "sku": "AL-WHT", "available": False},
]
VARIATIONS = [
    {"attributes": {"attribute_pa_size": "s"}, "display_price": 15, "is_in_stock": True, "sku": "TS-S"},
    {"attributes": {"attribute_pa_size": "m"}, "display_price": 18, "is_in_stock": False, "sku": "TS-M"},
]


def page(title: str, body: str, head: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{body}</main></body></html>"


def offered(markup: str, url: str = "https://shop.example/p/thing") -> Product:
    answer = read_product(markup, url)
    assert isinstance(answer, Product), answer
    return answer


def shopify(variants: list[dict[str, object]], shown: str) -> str:
    meta = json.dumps({"product": {"id": 7, "vendor": "Acme", "variants": variants}, "page": {"pageType": "product"}})
    head = f'<script>var meta = {meta}; Shopify.currency = {{"active":"CAD","rate":"1.0"}};</script>'
    form = '<form action="/cart/add"><input type="hidden" name="id" value="4001"><button>Add to cart</button></form>'
    return page("Arc Lamp", f'<span class="product__price">{shown}</span>{form}', head)


def woocommerce() -> str:
    form = f'<form class="variations_form cart" data-product_variations="{escape(json.dumps(VARIATIONS))}">'
    price = '<p class="price"><span class="amount">$15.00</span> &ndash; <span class="amount">$18.00</span></p>'
    return page(
        "Tee",
        f'<div class="product type-product"><div class="summary">{price}{form}<select name="attribute_pa_size">'
        "<option value=s>S<option value=m>M</select><button>Add to cart</button></form></div></div>",
    )


@pytest.mark.shows("C2")
def test_shopifys_variant_of_the_address_is_the_one_that_is_sold() -> None:
    chosen = offered(shopify(ARC_LAMP, "$120.00"), "https://shop.example/products/arc-lamp?variant=4002")
    assert (chosen.price, chosen.sku, chosen.availability) == (Decimal(120), "AL-WHT", Availability.OUT_OF_STOCK)


def test_shopifys_form_tells_the_variant_that_is_shown() -> None:
    shown = offered(shopify(ARC_LAMP, "$150.00"), "https://shop.example/products/arc-lamp")
    assert (shown.price, shown.sku, shown.currency) == (Decimal(150), "AL-BLK", "CAD")


@pytest.mark.shows("C2")
def test_woocommerces_variation_of_the_address_is_the_one_that_is_sold() -> None:
    chosen = offered(woocommerce(), "https://shop.example/product/tee/?attribute_pa_size=m")
    assert (chosen.price, chosen.sku, chosen.availability) == (Decimal(18), "TS-M", Availability.OUT_OF_STOCK)


@pytest.mark.shows("C2b")
def test_woocommerces_variations_without_a_choice_keep_their_doubt() -> None:
    answer = read_product(woocommerce(), "https://shop.example/product/tee/")
    assert not isinstance(answer, Product) or answer.doubt is not None


def test_bigcommerces_own_data_tells_number_code_and_stock() -> None:
    told = {"sku": "AG22", "upc": "640420001166", "instock": False, "price": {"without_tax": {"value": 5.49}}}
    script = f"<script>var BCData = {json.dumps({'product_attributes': told})};</script>"
    box = f'<div class="productView"><div class="productView-price"><span>$5.49</span></div></div>{script}'
    read = offered(page("Aguila 22LR", box))
    assert (read.sku, read.gtin, read.availability) == ("AG22", "640420001166", Availability.OUT_OF_STOCK)


def test_prestashops_own_data_tells_number_and_code() -> None:
    told = escape(json.dumps({"reference": "LB-21", "ean13": "4006381333931", "id_product": 21}))
    price = '<div class="product-prices"><span class="price">29,90 €</span></div>'
    box = f'{price}<div id="product-details" data-product="{told}"></div>'
    read = offered(page("Lampe", f"{box}<button>Ajouter au panier</button>"))
    assert (read.sku, read.gtin) == ("LB-21", "4006381333931")


@pytest.mark.shows("C2b")
def test_whole_cents_in_a_script_are_not_the_price_when_a_hundredth_is_shown() -> None:
    script = '<script>var item = {"name": "Woven Rug", "price": 31000};</script>'
    shown = '<p><span>Regular price</span> <span class="price">$310.00</span></p>'
    markup = page("Woven Rug", f"{shown}<button disabled>Sold out</button>", script)
    assert offered(markup).price == Decimal(310)


@pytest.mark.shows("C2b")
def test_the_tail_of_an_instalment_says_nothing_of_the_price_behind_it() -> None:
    body = (
        "<div>From <b>$41.58</b>/month for 12 months</div><div>$499.00</div>"
        "<p>or 4 interest-free payments of $124.75</p><button>Add to cart</button>"
    )
    assert offered(page("TV 55 inch", body)).price == Decimal(499)


def test_a_former_price_and_the_asked_one_are_read_without_a_sign() -> None:
    read = offered(page("Stadsfiets", "<p>Van 499,00 voor 399,00</p><button>In winkelwagen</button>"))
    assert (read.price, read.list_price) == (Decimal(399), Decimal(499))


@pytest.mark.parametrize(
    "told",
    [
        "<p>Buy 10 or more for $9.49 each, 50 or more for $8.99 each.</p>",
        "<p>Order <b>10+</b> for only <b>$9.49</b> each or <b>50+</b> for only <b>$8.99</b> each</p>",
        (
            "<table><tr><th>Quantity</th><th>Discount</th><th>Price</th></tr><tr><td>1 - 9</td><td></td>"
            "<td>$9.99</td></tr><tr><td>10 - 49</td><td>5 %</td><td>$9.49</td></tr><tr><td>50+</td><td>10 %</td>"
            "<td>$8.99</td></tr></table>"
        ),
    ],
)
@pytest.mark.shows("C2")
def test_tiers_are_read_from_sentences_and_wide_tables(told: str) -> None:
    read = offered(page("Mini 22LR", f'<span class="price">$9.99</span>{told}<button>Add to cart</button>'))
    wanted = [(1, Decimal("9.99")), (10, Decimal("9.49")), (50, Decimal("8.99"))]
    assert [(tier.quantity, tier.price) for tier in read.tiers] == wanted


def test_a_first_tier_told_by_its_end_begins_at_one() -> None:
    table = (
        "<table><tr><th>Anzahl</th><th>Stückpreis</th></tr><tr><th>Bis 9</th><td>0,59 €*</td></tr>"
        "<tr><th>Ab 10</th><td>0,49 €*</td></tr></table>"
    )
    read = offered(page("Schraube M8", f"{table}<button>In den Warenkorb</button>"))
    assert (read.price, [tier.quantity for tier in read.tiers]) == (Decimal("0.59"), [1, 10])


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("Derzeit nicht lieferbar", Availability.OUT_OF_STOCK),
        ("Fuera de stock", Availability.OUT_OF_STOCK),
        ("Stock: 0", Availability.OUT_OF_STOCK),
        ("Sold", Availability.OUT_OF_STOCK),
        ("This product has been discontinued.", Availability.OUT_OF_STOCK),
        ("Currently unavailable - check back soon", Availability.OUT_OF_STOCK),
        ("Available on backorder", Availability.BACKORDER),
        ("Produkt chwilowo niedostępny", Availability.OUT_OF_STOCK),
        ("Tillfälligt slut", Availability.OUT_OF_STOCK),
        ("Join the waitlist", Availability.OUT_OF_STOCK),
        ("Available in store only", Availability.IN_STOCK),
        ("Stock: 10", Availability.IN_STOCK),
        ("Sold by Acme", Availability.UNKNOWN),
        ("Available in 3 colours", Availability.UNKNOWN),
    ],
)
def test_a_line_of_stock_is_read_whatever_leads_it(line: str, state: Availability) -> None:
    assert stock_line(line) is state


def test_a_number_of_the_address_is_the_articles_where_the_form_calls_it_so() -> None:
    body = (
        '<span class="price">€ 18,50</span><input type="hidden" name="id_product" value="4471"><button>Buy now</button>'
    )
    assert offered(page("Claw Hammer", body), "https://shop.example/product.php?id_product=4471").sku == "4471"


@pytest.mark.parametrize(("line", "sku"), [("Style: DV0831-101", "DV0831-101"), ("Style guide", "")])
def test_a_style_is_a_number_of_the_article_when_it_is_one(line: str, sku: str) -> None:
    body = f'<span class="price">$85.00</span><p>{line}</p><button>Add to bag</button>'
    assert offered(page("Court Sneaker", body)).sku == sku
