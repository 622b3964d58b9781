"""Cursors: where a reader stands in the order of commits of an installation, written `EPOCH.OFFSET`."""

import re

import msgspec

_WRITTEN = re.compile(r"([0-9a-f]{8})\.(0|[1-9][0-9]{0,17})", re.ASCII)


class StreamCursor(msgspec.Struct, frozen=True):
    """All changes up to `offset` have been seen; an offset means nothing in another epoch."""

    epoch: str
    offset: int

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.epoch}.{self.offset}"


def parse_cursor(text: str) -> StreamCursor | None:
    """Return the cursor that is written; None when it is no cursor."""
    found = _WRITTEN.fullmatch(text)
    return None if found is None else StreamCursor(found[1], int(found[2]))
