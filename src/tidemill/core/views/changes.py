"""Feeds of changes, webhooks and deliveries as people and programs see them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec


class RecordChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a published record; `changes` tells by field what it was and what it is.

    `seq` is its place in the order in which changes became visible, `group` what subscribers choose by.
    """

    seq: int
    record_id: int
    kind: str
    title: str
    group: str
    changes: Mapping[str, Any]
    at: datetime


class FeedView(msgspec.Struct, frozen=True, kw_only=True):
    """A feed that can be subscribed to: its kinds of change, each in a sentence, and what narrows it."""

    name: str
    kinds: Mapping[str, str]
    filters: Sequence[str]


class SubscriptionView(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook without its secret; until `previous_until` the secret before it signs too."""

    id: int
    name: str
    url: str
    feed: str
    kinds: Sequence[str]
    only: Mapping[str, Any]
    enabled: bool
    previous_until: datetime | None
    created_by: str
    created_at: datetime


class DeliveryTry(msgspec.Struct, frozen=True, kw_only=True):
    """One try to deliver a notice; `code` is 0 without an answer."""

    at: datetime
    code: int
    error: str = ""


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


class DeliveryDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery with its body as it is sent, and the latest tries, oldest first."""

    delivery: DeliveryView
    body: Any
    tries: Sequence[DeliveryTry]
