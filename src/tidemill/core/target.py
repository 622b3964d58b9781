"""A target: one thing to scrape under a source."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.quality.readings import ReadingShape


class TargetStatus(StrEnum):
    """Where a target stands; matches add their own lifecycle."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    BROKEN = "BROKEN"
    STALE = "STALE"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A URL under a source, with its schedule and what its last scrape left behind.

    `good_*` describe the last page that went all the way: what an unchanged page is compared with.
    Targets of one `scope` are scraped together and are complete together: a market, where a source covers many.
    `parameters` are what its URL template was filled in with: the market it is for, its city and state.
    """

    id: int
    source_id: int
    url: str
    canonical_url: str
    host: str
    adapter_id: str
    schedule: str | None = None
    priority: int = 0
    status: TargetStatus = TargetStatus.ACTIVE
    enabled: bool = True
    robots_path_blocked: bool = False
    last_scraped_at: datetime | None = None
    last_status: str | None = None
    consecutive_failures: int = 0
    next_due_at: datetime | None = None
    adapted_seconds: int | None = None
    etag: str = ""
    last_modified: str = ""
    good_page_id: int | None = None
    good_digest: int | None = None
    good_reader: str | None = None
    good_shape: ReadingShape | None = None
    created_by: str | None = None
    notes: str | None = None
    scope: str = ""
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def max_records(self) -> int | None:
        """The most records wanted from its list; None for all."""
        most = self.parameters.get("max_listings", "")
        return int(most) if most.isdigit() else None


UNCHANGED = "UNCHANGED"
"""The `last_status` of a target whose page was the same as last time."""

STORED = "STORED"
"""The `last_status` of a target whose page could not be fetched, so that a stored one was used."""

NOTHING_ACCEPTED = "NOTHING_ACCEPTED"
"""The `last_status` of a target on whose page every record was dropped or set aside, for what it is."""

POORER_READING = "POORER_READING"
"""The `last_status` of a target whose page was read worse than its last good one: by a weaker strategy, or with
fewer fields."""

BROKEN_AFTER = 5
"""Failures in a row after which a target is only rechecked weekly."""


def after_success(target: Target) -> tuple[TargetStatus, int]:
    """Return status and failure count after a successful scrape; a broken target becomes active again."""
    revived = target.status in {TargetStatus.BROKEN, TargetStatus.STALE}
    return (TargetStatus.ACTIVE if revived else target.status), 0


def after_failure(target: Target) -> tuple[TargetStatus, int]:
    """Return status and failure count after a failed scrape."""
    failures = target.consecutive_failures + 1
    if failures >= BROKEN_AFTER and target.status is TargetStatus.ACTIVE:
        return TargetStatus.BROKEN, failures
    return target.status, failures
