"""Webhook deliveries: the body, its signature, retries and the result."""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A notice to be sent to one subscriber."""

    id: int
    notice_key: str
    url: str
    secret: str
    body: bytes
    attempts: int


class DeliveryAttempt(msgspec.Struct, frozen=True):
    """The result of one attempt; `code` is 0 without a response."""

    delivery: Delivery
    code: int
    error: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether the subscriber confirmed it."""
        return self.code // 100 == 2  # noqa: PLR2004 - HTTP's success


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return the HMAC-SHA256 over the timestamp and body, which proves that we sent them."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


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
