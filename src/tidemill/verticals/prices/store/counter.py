"""Counts the records of prices, for whoever is shown everything in numbers."""

from sqlalchemy import func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.prices.store.tables import source_products

COUNTER = RecordCounter(
    RecordTotal("products", "products_sold", "products_gone", "with their prices"),
    select(func.count() - func.count(source_products.c.gone_at), func.count(source_products.c.gone_at)).select_from(
        source_products
    ),
)
