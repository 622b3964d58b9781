"""A dry run: an adapter reads stored pages, to see what it would yield before it is switched on."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped
from tidemill.core.vertical import Adapter, Context, Vertical

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


def dry_run(adapter: Adapter, vertical: Vertical, stored: Sequence[tuple[Source, Page]]) -> DryRun:
    """Read and judge every page, and write nothing."""
    reasons: Counter[str] = Counter()
    well = records = 0
    for source, page in stored:
        kept, against = _read_and_judge(adapter, vertical, page, Context(source, page.final_url, page.fetched_at))
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


def _read_and_judge(adapter: Adapter, vertical: Vertical, page: Page, context: Context) -> tuple[int, list[str]]:
    """Return how many records a page yields, and the reasons against it."""
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
