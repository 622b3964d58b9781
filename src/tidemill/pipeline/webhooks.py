"""Webhooks: notices, who wants them, their signatures, retries and results."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
BOTH_SECRETS = timedelta(hours=24)
"""So long the secret before a rotation goes on signing beside the new one."""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What a subscriber is told; `key` is the same however often it is sent, `change` is as the feed shows it."""

    key: str
    feed: str
    kind: str
    at: datetime
    change: Any


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """A subscriber, the notices it wants of a feed, and the secret that signs them; `only` narrows the feed."""

    id: int
    url: str
    secret: str
    feed: str
    kinds: Sequence[str]
    only: Mapping[str, Any] = {}


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A notice to be sent to one subscriber; until `previous_until` its secret before the last rotation signs too."""

    id: int
    subscription_id: int
    notice_key: str
    url: str
    secret: str
    body: bytes
    attempts: int
    previous_secret: str | None = None
    previous_until: datetime | None = None
    tries: Sequence[Mapping[str, Any]] = ()

    def secrets(self, now: datetime) -> list[str]:
        """Return the secrets that sign it now, the newest first."""
        old = self.previous_secret
        both = old is not None and self.previous_until is not None and now < self.previous_until
        return [self.secret, old] if both and old is not None else [self.secret]


class DeliveryAttempt(msgspec.Struct, frozen=True):
    """The result of one attempt; `code` is 0 without a response, and then it may have arrived all the same."""

    delivery: Delivery
    code: int
    error: str = ""
    may_have_arrived: bool = False

    @property
    def is_accepted(self) -> bool:
        """Whether the subscriber confirmed it."""
        return self.code // 100 == 2  # noqa: PLR2004 - HTTP's success


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return the HMAC-SHA256 over the timestamp and body, which proves that we sent them."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def signatures(delivery: Delivery, timestamp: int, now: datetime) -> str:
    """Return the header that proves who sent a delivery: a signature by each secret that holds now."""
    made = (signature(secret, timestamp, delivery.body) for secret in delivery.secrets(now))
    return ", ".join(f"sha256={each}" for each in made)


def next_attempt(attempts: int, now: datetime) -> datetime | None:
    """Return when to retry after so many attempts; None to give up and leave it to a person."""
    if attempts >= ATTEMPTS:
        return None
    return now + min(LONGEST_WAIT, FIRST_WAIT * (1 << (attempts - 1)))


class WebhookTransport(Protocol):
    """Sends webhook deliveries."""

    async def send(self, delivery: Delivery, now: datetime) -> DeliveryAttempt:
        """Send a signed delivery; errors are in the result."""
        ...
