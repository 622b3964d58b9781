"""What was set aside for a person, as it stands."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec


class QuarantineFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which quarantined records; None means any. `waiting` leaves out those that somebody has decided on."""

    source_id: int | None = None
    vertical: str | None = None
    reason: str | None = None
    run_id: int | None = None
    waiting: bool = True


class QuarantinedView(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was set aside, why, and what was decided about it."""

    id: int
    source_id: int
    source_name: str
    run_id: int
    job_id: int
    page_id: int
    page_url: str
    vertical: str
    reason: str
    detail: str
    raw: Mapping[str, Any]
    created_at: datetime
    review: str | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    review_notes: str | None
    times: int = 1
    last_seen_at: datetime | None = None
