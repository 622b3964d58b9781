"""What every table is made with."""

from typing import Any

from sqlalchemy import Column, Index, MetaData, text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

SOURCE = "scraper_sources.id"
TARGET = "scrape_targets.id"


def partial(name: str, where: str, *columns: Column[Any]) -> Index:
    """An index over the rows that meet `where`, on both databases."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))
