"""Products: what a shop's page sells and for how much, or why nobody can tell."""

from tidemill.reading.products.lists import read_products
from tidemill.reading.products.product import NoOffer, Product, ProductReading, Tier, Variant
from tidemill.reading.products.reader import read_product

__all__ = ["NoOffer", "Product", "ProductReading", "Tier", "Variant", "read_product", "read_products"]
