"""Webhooks on their way: what is sent, how it is signed, when it is tried again, and what became of it."""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A notice on its way to one subscriber."""

    id: int
    notice_key: str
    url: str
    secret: str
    body: bytes
    attempts: int


class Sent(msgspec.Struct, frozen=True):
    """What became of one attempt; `code` is 0 when no answer came."""

    delivery: Delivery
    code: int
    error: str = ""

    @property
    def is_taken(self) -> bool:
        """Whether the subscriber said that it has it."""
        return self.code // 100 == 2  # noqa: PLR2004 - HTTP's success


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """What proves to a subscriber that we sent this body at this moment: HMAC-SHA256 over both."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def next_attempt(attempts: int, now: datetime) -> datetime | None:
    """When to try again after so many attempts; None when it is time to give up and leave it to a person."""
    if attempts >= ATTEMPTS:
        return None
    return now + min(LONGEST_WAIT, FIRST_WAIT * (1 << (attempts - 1)))


class Post(Protocol):
    """Brings a body to an address."""

    async def send(self, delivery: Delivery, now: datetime) -> Sent:
        """Send it, signed; whatever goes wrong is in the answer."""
        ...
