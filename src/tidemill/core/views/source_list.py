"""The list of sources as an operator works through it: what to show, in which order, and what a line holds."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.views.sources import SourceView

DAYS_SHOWN = 14


class SourceState(StrEnum):
    """What sources can be narrowed to; each is a question that the database answers by itself."""

    ON = "on"
    OFF = "off"
    DRIFTED = "switched off by drift"
    FAILING = "failing"
    BREAKER = "breaker not closed"
    SILENT = "without a record"
    BROKEN = "with broken targets"


class SourceOrder(StrEnum):
    """In which order sources are listed."""

    NAME = "name"
    TROUBLE = "most failures"
    SUCCESS = "longest without success"
    RECORDS = "most records"
    NEWEST = "newest"


class SourceListFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which sources; None means any. `text` is looked for in name, address and city."""

    text: str | None = None
    vertical: str | None = None
    state: SourceState | None = None
    tag: str | None = None
    adapter: str | None = None
    order: SourceOrder = SourceOrder.NAME


class SourceLine(msgspec.Struct, frozen=True, kw_only=True):
    """A source in the list: `daily` is what its runs yielded on each of the last days, the oldest first."""

    view: SourceView
    daily: Sequence[int]
    next_due_at: datetime | None
    last_new_at: datetime | None


class SourcePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list: `total` counts all that the filter means, `next` is the key to go on after."""

    lines: Sequence[SourceLine]
    total: int
    next: int | None
    tags: Sequence[tuple[str, int]]
