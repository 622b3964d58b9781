"""A dry run: an adapter over stored pages, to see what it would yield before it is let loose again."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped
from tidemill.core.vertical import Adapter, Context, Vertical

PAGES = 50
"""Stored pages that a dry run reads: the newest of as many targets."""
ENOUGH = 0.5
"""The share of pages that must yield something, or say harmlessly that there is nothing."""


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of reading stored pages: how many went well, and why the others did not, the commonest first."""

    adapter_id: str
    version: str
    pages: int
    well: int
    records: int
    reasons: Mapping[str, int]

    @property
    def is_promising(self) -> bool:
        """Whether enough pages went well; without stored pages there is nothing against it."""
        return self.well >= self.pages * ENOUGH


def dry_run(adapter: Adapter, vertical: Vertical, stored: Sequence[tuple[Source, Page]]) -> DryRun:
    """Read and judge every page; nothing is written."""
    reasons: Counter[str] = Counter()
    well = records = 0
    for source, page in stored:
        kept, against = _try(adapter, vertical, page, Context(source, page.final_url, page.fetched_at))
        records += kept
        well += not against or bool(kept)
        reasons.update(against)
    return DryRun(
        adapter_id=adapter.id,
        version=adapter.version,
        pages=len(stored),
        well=well,
        records=records,
        reasons=dict(reasons.most_common()),
    )


def _try(adapter: Adapter, vertical: Vertical, page: Page, context: Context) -> tuple[int, list[str]]:
    """How many records a page yields, and what speaks against it."""
    try:
        reading = adapter.read(page, context)
    except Exception as error:  # noqa: BLE001 - a crash is what a dry run is there to find
        return 0, [f"crashed: {type(error).__name__}"]
    if isinstance(reading, Fail):
        return 0, [str(vertical.name_failure(reading.failure, reading.detail) or reading.failure)]
    verdicts = [vertical.judge(raw, context) for raw in reading.records]
    kept = sum(isinstance(each, Accepted) for each in verdicts)
    against = [
        each.reason
        for each in verdicts
        if not isinstance(each, Accepted) and not (isinstance(each, Dropped) and each.harmless)
    ]
    if not verdicts and not reading.declared_empty:
        against.append("nothing found")
    return kept, against
