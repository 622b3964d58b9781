"""Counts the records of prices, for whoever is shown everything in numbers."""

from sqlalchemy import bindparam, func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.records.checked import CheckedRecordCounter
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.prices.store.tables import source_products

_ALL = select(func.count()).select_from(source_products).scalar_subquery()
_GONE = select(func.count()).where(source_products.c.gone_at.is_not(None)).scalar_subquery()
COUNTER = RecordCounter(
    RecordTotal("products", "products_sold", "products_gone", "with their prices"), select(_ALL - _GONE, _GONE)
)
"""Both are counted along an index: a table of records is large, and few of them are gone."""

CHECKED = CheckedRecordCounter(
    select(
        source_products.c.source_id,
        func.count(),
        func.count().filter(source_products.c.last_seen_at >= bindparam("b_since")),
    )
    .where(source_products.c.gone_at.is_(None), source_products.c.first_seen_at <= bindparam("b_now"))
    .group_by(source_products.c.source_id)
)
