"""What was set aside for a person, incidents of drift, and webhooks, as they stand."""

from collections.abc import Mapping, Sequence
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


class IncidentView(msgspec.Struct, frozen=True, kw_only=True):
    """Something that drift detection noticed, and whether it is over."""

    id: int
    adapter_id: str
    source_id: int
    source_name: str
    rule: str
    field: str
    detail: str
    run_id: int
    times: int
    opened_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None
    closed_by: str | None


class SubscriptionView(msgspec.Struct, frozen=True, kw_only=True):
    """Who is told of what; the secret is shown once, when the subscription is made."""

    id: int
    name: str
    url: str
    kinds: Sequence[str]
    product_id: int | None
    least_drop_percent: float
    enabled: bool
    created_by: str
    created_at: datetime


class DeliveryView(msgspec.Struct, frozen=True, kw_only=True):
    """A notice on its way to a subscriber."""

    id: int
    subscription: str
    notice_key: str
    kind: str
    status: str
    attempts: int
    next_attempt_at: datetime | None
    last_code: int | None
    last_error: str | None
    created_at: datetime
    delivered_at: datetime | None
