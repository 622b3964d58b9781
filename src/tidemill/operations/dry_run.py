"""A dry run: an adapter reads stored pages, to see what it would yield before it is switched on."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Adapter
from tidemill.pipeline.reader_functions.dry_readings import DRY_READ, DryReading, PageToRead
from tidemill.pipeline.reader_functions.function import FunctionReaders

MAX_PAGES = 50
"""Stored pages that a dry run reads: the newest page of as many targets."""
MIN_SUCCESS_SHARE = 0.5
"""The share of pages that must yield records or be declared empty."""


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of reading stored pages: how many went well, and why the others did not, the commonest first."""

    adapter_id: str
    version: str
    pages: int
    well: int
    records: int
    reasons: Mapping[str, int]

    @property
    def is_successful(self) -> bool:
        """Whether enough pages were read; True without stored pages."""
        return self.well >= self.pages * MIN_SUCCESS_SHARE


async def dry_run(adapter: Adapter, readers: FunctionReaders, stored: Sequence[tuple[Source, Page]]) -> DryRun:
    """Read and judge every page, and write nothing."""
    reasons: Counter[str] = Counter()
    well = records = 0
    for source, page in stored:
        read = await readers.call(DRY_READ, PageToRead(adapter.id, source, page))
        if isinstance(read, Fail):
            read = DryReading(0, [str(read.failure)])
        records += read.kept
        well += not read.against or bool(read.kept)
        reasons.update(read.against)
    return DryRun(
        adapter_id=adapter.id,
        version=adapter.version,
        pages=len(stored),
        well=well,
        records=records,
        reasons=dict(reasons.most_common()),
    )
