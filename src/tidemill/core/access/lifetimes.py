"""How long sessions, tokens and one-time links hold."""

from datetime import datetime, timedelta

IDLE = timedelta(hours=12)
"""A session that is not used for so long ends."""
LONGEST_SESSION = timedelta(days=30)
TOUCH_EVERY = timedelta(minutes=1)
"""How exactly it is kept when a session or a token was last used: a row is not written for every request."""
LINK_HOLDS = timedelta(minutes=15)
LONGEST_TOKEN = timedelta(days=3_660)


def is_session_open(created_at: datetime, last_used_at: datetime, now: datetime) -> bool:
    """Return whether a session still holds: used within 12 hours and begun within 30 days."""
    return now - last_used_at <= IDLE and now - created_at <= LONGEST_SESSION


def is_token_valid(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Return whether a token may be used."""
    return revoked_at is None and (expires_at is None or now < expires_at)


def is_link_open(created_at: datetime, used_at: datetime | None, now: datetime) -> bool:
    """Return whether a one-time link may be followed: within 15 minutes, once."""
    return used_at is None and now - created_at <= LINK_HOLDS
