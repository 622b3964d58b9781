"""How each page of each watch stands: what health, `why` and people are shown of the live lane."""

from datetime import datetime, timedelta

import msgspec

from tidemill.core.live.change import ThingKey
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase


class PageStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a watch as this process polls it: a scraper context.

    `checked_at` is the last good reading, changed or not, and alone says how fresh the data is; `changed_at` the last
    reading that moved the thing. `failures` are in a row. `interval` is the wanted one and `debt` how much longer than
    that the page's last check is ago, because its host's pace allows no more. `thing` is None for a list page.
    """

    scraper_id: str
    thing: ThingKey | None
    source_id: int
    source: str
    target_id: int
    url: str
    job_id: int
    started_at: datetime
    phase: Phase
    lifecycle: Lifecycle
    interval: timedelta
    checked_at: datetime | None = None
    changed_at: datetime | None = None
    failures: int = 0
    total_failures: int = 0
    polls: int = 0
    changes: int = 0
    ignored: int = 0
    latency: timedelta | None = None
    timeout: timedelta = timedelta(seconds=15)
    paused_until: datetime | None = None
    debt: timedelta = timedelta(0)
    needs_browser: bool = False


class LaneStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The live lane of this process: its pages, what waits to be written, and who was refused for want of room."""

    pages: tuple[PageStatus, ...] = ()
    waiting_changes: int = 0
    waiting_bytes: int = 0
    is_spilling: bool = False
    refused_watches: int = 0
    store_away_since: datetime | None = None
