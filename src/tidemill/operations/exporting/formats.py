"""Rows as JSON Lines, CSV and GeoJSON. Scraped text never becomes a formula."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from tidemill.operations.exporting.dataset import ColumnKind, ExportColumn, ExportRow

CURSOR = "cursor"
"""The last column of files that can be gone on with: whoever has a part of a file knows where the rest begins."""
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Also in the full width of East Asian text, which spreadsheets take for the same signs."""

_encode = msgspec.json.Encoder().encode


class JsonLinesWriter:
    """One JSON object per line."""

    def begin(self) -> bytes:
        """Nothing."""
        return b""

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return a line per row."""
        return b"".join(_encode({**row.values, CURSOR: row.cursor}) + b"\n" for row in rows)

    def end(self) -> bytes:
        """Nothing."""
        return b""


class CsvWriter:
    """One row per line, under a line of names; a part that goes on has no names, so that parts can be joined."""

    def __init__(self, columns: Sequence[ExportColumn], *, goes_on: bool = False) -> None:
        """Write these columns, but for nested ones."""
        self._names = [column.name for column in columns if column.kind is not ColumnKind.JSON]
        self._goes_on = goes_on

    def begin(self) -> bytes:
        """Return the line of names."""
        return b"" if self._goes_on else csv_lines([[*self._names, CURSOR]])

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return a line per row."""
        return csv_lines([[*(cell(row.values.get(name)) for name in self._names), row.cursor] for row in rows])

    def end(self) -> bytes:
        """Nothing."""
        return b""


def cell(value: Any) -> Any:
    """Return a value for a cell; text that a spreadsheet would take for a formula gets a quote before it."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        value = "; ".join(str(each) for each in value)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def csv_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows as lines of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode("utf-8", "replace")


class GeoJsonWriter:
    """A collection of points (RFC 7946); rows without coordinates are left out."""

    def __init__(self) -> None:
        """Start without a point."""
        self._has_some = False

    def begin(self) -> bytes:
        """Open the collection."""
        return b'{"type":"FeatureCollection","features":['

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return the points of rows."""
        written = b",\n".join(_encode(_feature(row)) for row in rows if _is_placed(row))
        comma = b",\n" if written and self._has_some else b""
        self._has_some = self._has_some or bool(written)
        return comma + written

    def end(self) -> bytes:
        """Close the collection."""
        return b"]}\n"


def _is_placed(row: ExportRow) -> bool:
    latitude, longitude = row.values["latitude"], row.values["longitude"]
    return latitude is not None and longitude is not None and abs(latitude) <= 90 and abs(longitude) <= 180  # noqa: PLR2004 - degrees; also false for what is no number


def _feature(row: ExportRow) -> dict[str, Any]:
    told = {name: value for name, value in row.values.items() if name not in {"id", "latitude", "longitude", "record"}}
    return {
        "type": "Feature",
        "id": row.values["id"],
        "geometry": {"type": "Point", "coordinates": [row.values["longitude"], row.values["latitude"]]},
        "properties": told,
    }
