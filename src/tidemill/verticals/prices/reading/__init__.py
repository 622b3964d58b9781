"""Products: what a shop's page sells and for how much, or why nobody can tell."""

from tidemill.verticals.prices.reading.lists import read_products, unpriced_products
from tidemill.verticals.prices.reading.product import NoOffer, Product, ProductReading, QuantityTier, Variant
from tidemill.verticals.prices.reading.reader import read_product

__all__ = [
    "NoOffer",
    "Product",
    "ProductReading",
    "QuantityTier",
    "Variant",
    "read_product",
    "read_products",
    "unpriced_products",
]
