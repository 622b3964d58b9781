"""Whose number is the article's: the label's, the data's, the address's, or nobody's."""

import pytest

from tidemill.reading.document import Document
from tidemill.verticals.prices.reading import Product, read_product
from tidemill.verticals.prices.reading.address_codes import code_in_address

SHOP = "https://shop.example"


def code(path: str, markup: str) -> str:
    return code_in_address(Document(f"<html><body>{markup}</body></html>", SHOP + path))


@pytest.mark.parametrize(
    ("path", "markup", "expected"),
    [
        ("/kettle-w712550a.html", '<script>var page = {"sku": "w712550a"}</script>', "w712550a"),
        ("/dp/B08XY12Z3Q", '<input name="asin" value="B08XY12Z3Q">', "B08XY12Z3Q"),
        ("/kettle/p/1234", '<div data-product-id="1234">', "1234"),
        ("/kettle?goodsNo=A000012", "<script>goodsNo = 'A000012'</script>", "A000012"),
        ("/view?id=771", '<meta itemprop="productID" content="771">', "771"),
        ("/kettle-4711-22.html", "<th>Product code</th><td>4711-22</td>", "4711-22"),
        ("/kettle-112949990", "<b>112949990</b>", "112949990"),
    ],
)
def test_the_address_tells_the_article_where_the_page_calls_it_so(path: str, markup: str, expected: str):
    assert code(path, markup) == expected


@pytest.mark.parametrize(
    ("path", "markup"),
    [
        ("/kettle-2024", "<p>Made in 2024</p>"),
        ("/kettle-w712550a.html", "<p>Not the w712550a of old</p>"),
        ("/kettles?page=12", '<div data-product-id="12">'),
        ("/kettle-112949990", "<a href='/other'>another</a>"),
        ("/kettle", '<div data-product-id="1234">'),
    ],
)
def test_a_number_that_nobody_calls_the_articles_is_not(path: str, markup: str):
    assert code(path, markup) == ""


def test_the_end_of_the_address_that_the_page_calls_its_own_is_the_articles():
    canonical = f'<link rel="canonical" href="{SHOP}/book-1589482272.html">'
    assert code("/book-1589482272.html?utm=9", canonical) == "1589482272"
    assert code("/list-1589482272.html", canonical) == ""


PAGE = """<html><head><title>Kettle</title><script type="application/ld+json">
{{"@type": "Product", "name": "Kettle", "sku": "{sku}", "offers": {{"price": "20.00", "priceCurrency": "EUR"}}}}
</script>
</head><body><h1>Kettle</h1><p>{shown}</p><span class="price">&euro; 20,00</span><button>Add to cart</button>
<script>var product = {{"productId": "81726354"}}</script></body></html>"""


def sku(claimed: str, shown: str) -> tuple[str, str]:
    product = read_product(PAGE.format(sku=claimed, shown=shown), f"{SHOP}/kettle-81726354.html")
    assert isinstance(product, Product)
    return product.sku, product.places["sku"]


def test_the_number_that_the_page_shows_outweighs_its_data():
    assert sku("internal-9", "Artikelnummer: KT-20") == ("KT-20", "label: Artikelnummer: KT-20")
    assert sku("KT-20", "Boils water") == ("KT-20", "json-ld/0/sku")


def test_a_number_that_every_shop_has_for_it_is_not_the_shops_own():
    assert sku("4006381333931", "Boils water") == ("81726354", "address")
