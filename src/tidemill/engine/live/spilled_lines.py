"""Entries as lines of JSON in a file: whatever such a file holds, reading it runs nothing and makes only our values."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tidemill.pipeline.live_ports import PendingEntry

VERSION = 1
"""Raise it when a file of the version before would be read wrongly."""
HEADER = msgspec.json.encode({"live_changes": VERSION}) + b"\n"

RowTypes = Callable[[str], Mapping[str, type]]
"""By vertical: the values of its own store that a change can bring, by their names."""


class UnreadableLine(Exception):
    """A line that is no entry of ours: torn, made by another version, or by somebody else."""


class NamedRow(msgspec.Struct, frozen=True):
    """A value of a vertical's own store, with the name of its type."""

    type: str
    value: msgspec.Raw


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry without its rows, and the rows."""

    entry: PendingEntry
    rows: tuple[NamedRow, ...] = ()


class EntryLines:
    """Writes entries as lines and reads them back; only rows of types that their vertical names are made."""

    def __init__(self, row_types: RowTypes) -> None:
        """`row_types` is asked with the vertical of an entry that has rows."""
        self._row_types = row_types
        self._decoder = msgspec.json.Decoder(EntryLine)

    def encode(self, entry: PendingEntry) -> bytes:
        """Return an entry as one line."""
        rows = tuple(NamedRow(type(row).__name__, msgspec.Raw(msgspec.json.encode(row))) for row in entry.rows)
        return msgspec.json.encode(EntryLine(msgspec.structs.replace(entry, rows=()), rows)) + b"\n"

    def decode(self, line: bytes) -> PendingEntry:
        """Return the entry of a line; raise `UnreadableLine` for one that is none."""
        if not line.endswith(b"\n"):
            msg = "the last change is torn"
            raise UnreadableLine(msg)
        try:
            found = self._decoder.decode(line)
            rows = tuple(self._row(found.entry.thing.vertical, row) for row in found.rows)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UnreadableLine(str(error)[:200]) from error
        return msgspec.structs.replace(found.entry, rows=rows)

    def check_header(self, line: bytes) -> None:
        """Raise `UnreadableLine` for a file that another version, or somebody else, has made."""
        if line != HEADER:
            msg = f"it does not begin with {HEADER.decode().strip()}: another version made it"
            raise UnreadableLine(msg)

    def _row(self, vertical: str, row: NamedRow) -> Any:
        made = self._row_types(vertical).get(row.type)
        if made is None:
            msg = f"{row.type[:100]!r} is no value that {vertical[:100]!r} stores"
            raise UnreadableLine(msg)
        return msgspec.json.decode(row.value, type=made)
