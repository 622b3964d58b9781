"""What can be exported: a named list of rows with typed columns, read page by page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.views.past import Cause
from tidemill.operations.mistakes import Mistake


class ExportFormat(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    GEOJSON = "geojson"
    ICALENDAR = "ics"
    RSS = "rss"

    @property
    def media_type(self) -> str:
        """What a browser is told that it is."""
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    ExportFormat.JSONL: "application/x-ndjson",
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
    ExportFormat.GEOJSON: "application/geo+json",
    ExportFormat.ICALENDAR: "text/calendar; charset=utf-8",
    ExportFormat.RSS: "application/rss+xml; charset=utf-8",
}


class ColumnKind(StrEnum):
    """What a column holds; `JSON` is a nested value, which a CSV file leaves out."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "yes or no"
    MOMENT = "moment"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column by its name."""

    name: str
    kind: ColumnKind = ColumnKind.TEXT


@dataclass(frozen=True, slots=True)
class ExportRow:
    """A row: its values by column, where an export goes on after it, and the thing that it was made from."""

    cursor: str
    values: Mapping[str, Any]
    thing: Any = None


class ExportWriter(Protocol):
    """Writes one export: its beginning, its pages in order, its end."""

    def begin(self) -> bytes:
        """Return what stands before the first row."""
        ...

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return rows, written."""
        ...

    def end(self) -> bytes:
        """Return what stands after the last row."""
        ...


LoadCauses = Callable[[Sequence[ExportRow], datetime, datetime], Awaitable[Mapping[str, Sequence[Cause]]]]
"""Takes rows and two moments; answers by the text of a row's key what made it what it became in between."""
LoadPast = Callable[[Any, str | None, int, datetime], Awaitable[Sequence[ExportRow]]]
"""The same as of a moment, in the order of the rows' own keys."""
LoadRows = Callable[[Any, str | None, int], Awaitable[Sequence[ExportRow]]]
"""Takes filters, a cursor and how many; answers with the rows after the cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDataset:
    """A list that can be exported.

    `filters` is the type whose fields narrow it, `load` reads a page of it, and `documents` makes the writers of
    formats that only some data has, such as calendars. One with a `latitude` and a `longitude` is had as GeoJSON.
    `load_past` reads it as it was, where its history is kept; `key` is the column that names a row, and past rows come
    in its order, the largest first if `newest_first`. `load_causes` tells which runs made rows what they became.
    `listed` names the columns that a list on a screen has; the first few without it.
    """

    name: str
    about: str
    columns: Sequence[ExportColumn]
    filters: type[msgspec.Struct]
    load: LoadRows
    documents: Mapping[ExportFormat, Callable[[], ExportWriter]] = field(default_factory=dict)
    load_past: LoadPast | None = None
    load_causes: LoadCauses | None = None
    key: str = "id"
    newest_first: bool = False
    listed: Sequence[str] = ()

    @property
    def formats(self) -> list[ExportFormat]:
        """The formats that it can be had in."""
        common = [ExportFormat.JSONL, ExportFormat.CSV, ExportFormat.PARQUET]
        placed = {"latitude", "longitude"} <= {column.name for column in self.columns}
        return [*common, *([ExportFormat.GEOJSON] if placed else []), *self.documents]

    def past(self) -> LoadPast:
        """Return how it is read as of a moment; raise `Mistake` where its history is not kept."""
        if self.load_past is None:
            msg = f"what {self.name} were at a moment is not kept; ask for it as it is now"
            raise Mistake(msg)
        return self.load_past

    @property
    def filter_names(self) -> tuple[str, ...]:
        """The names of what narrows it."""
        return self.filters.__struct_fields__

    def parse_filters(self, given: Mapping[str, str]) -> Any:
        """Return the filters that were written as text; raise `Mistake` for one that it has not or cannot use."""
        for name in given:
            if name not in self.filter_names:
                raise Mistake(unknown_name("filter", name, self.filter_names))
        try:
            return msgspec.convert(given, self.filters, strict=False)
        except msgspec.ValidationError as error:
            msg = f"a filter of {self.name} cannot be used: {error}"
            raise Mistake(msg) from error


def columns(**kinds: ColumnKind) -> list[ExportColumn]:
    """Return columns from names and kinds, in order."""
    return [ExportColumn(name, kind) for name, kind in kinds.items()]
