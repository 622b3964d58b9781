"""Rows as Parquet, a row group at a time; needs the extra `parquet`."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from tidemill.operations.exporting.dataset import ColumnKind, ExportColumn, ExportRow
from tidemill.operations.exporting.formats import CURSOR
from tidemill.operations.mistakes import SwitchedOff

_MISSING = "Parquet needs pyarrow, which is not installed; install `tidemill[parquet]`, or take jsonl or csv"
_encode = msgspec.json.Encoder().encode


class _Drained(io.RawIOBase):
    """A file that is emptied as it is written, so that it never grows; it still knows how much was written."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any, /) -> int:
        copied = bytes(piece)
        self._pieces.append(copied)
        self._written += len(copied)
        return len(copied)

    def tell(self) -> int:
        return self._written

    def drain(self) -> bytes:
        """Return what was written since the last time."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


class ParquetWriter:
    """Writes a row group per page."""

    def __init__(self, columns: Sequence[ExportColumn]) -> None:
        """Raise `SwitchedOff` without pa."""
        try:
            import pyarrow as pa  # noqa: PLC0415 - an extra, and slow to import
            from pyarrow import parquet  # noqa: PLC0415 - see above
        except ImportError as error:
            raise SwitchedOff(_MISSING) from error
        self._arrow = pa
        self._columns = [*columns, ExportColumn(CURSOR)]
        kinds = {
            ColumnKind.TEXT: pa.string(), ColumnKind.JSON: pa.string(), ColumnKind.WHOLE: pa.int64(),
            ColumnKind.NUMBER: pa.float64(), ColumnKind.YES_NO: pa.bool_(),
            ColumnKind.MOMENT: pa.timestamp("us", tz="UTC"),
        }  # fmt: skip
        self._schema = pa.schema([(column.name, kinds[column.kind]) for column in self._columns])
        self._file = _Drained()
        self._writer = parquet.ParquetWriter(self._file, self._schema, compression="zstd")

    def begin(self) -> bytes:
        """Return the mark of the format."""
        return self._file.drain()

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return a row group."""
        values = [{**row.values, CURSOR: row.cursor} for row in rows]
        arrays = {
            column.name: [_value(row.get(column.name), column.kind) for row in values] for column in self._columns
        }
        self._writer.write_table(self._arrow.table(arrays, schema=self._schema))
        return self._file.drain()

    def end(self) -> bytes:
        """Return the footer, which says where each row group stands."""
        self._writer.close()
        return self._file.drain()


def _value(value: Any, kind: ColumnKind) -> Any:
    if value is None:
        return None
    if kind is ColumnKind.JSON:
        return _encode(value).decode("utf-8", "replace")
    if kind is ColumnKind.TEXT:
        text = "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        return text.encode("utf-8", "replace").decode()
    if kind is ColumnKind.MOMENT and isinstance(value, datetime):
        return value.astimezone(UTC)
    return value
