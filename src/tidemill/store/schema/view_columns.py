"""The columns of a table under the names that a view gives them."""

from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, Table


def view_columns(struct: type[msgspec.Struct], table: Table, **renamed: Column[Any]) -> list[ColumnElement[Any]]:
    """The columns of a table under the names that a view gives them, as far as the table has them."""
    found = ((name, renamed.get(name, table.c.get(name))) for name in struct.__struct_fields__)
    return [column.label(name) for name, column in found if column is not None]
