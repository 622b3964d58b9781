"""Real time, for the lab's own server processes."""

from datetime import UTC, datetime


def wall_time() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 -- the lab's servers run as processes of their own, which have no Clock
