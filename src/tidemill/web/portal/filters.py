"""The template filters, which format values for pages."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

STATES = {
    "healthy": "good", "SUCCESS": "good", "CLOSED": "good", "done": "good", "ok": "good", "scheduled": "good",
    "degraded": "warn", "PARTIAL": "warn", "HALF_OPEN": "warn", "waiting": "warn", "RUNNING": "busy", "leased": "busy",
    "running": "busy", "down": "bad", "FAILED": "bad", "OPEN": "bad", "dead": "bad", "failed": "bad",
    "cancelled": "bad", "postponed": "warn",
    "well": "good", "failing": "bad", "yields nothing": "bad", "held back": "warn",
}  # fmt: skip
"""The colour of each state; pages always show its name too, for people who do not see colours."""

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def colour(state: str) -> str:
    """Return the CSS class of a state's colour."""
    return STATES.get(state, "plain")


def span(length: timedelta) -> str:
    """Return a duration as text, in its largest unit."""
    seconds = int(length.total_seconds())
    for size, unit in UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ago(moment: datetime | None, now: datetime) -> str:
    """Return how long ago, or in how long, as text."""
    if moment is None:
        return "never"
    return f"{span(now - moment)} ago" if now >= moment else f"in {span(moment - now)}"


def stamp(moment: datetime | None) -> str:
    """Return a moment as text."""
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def day(moment: date, now: datetime) -> str:
    """Return a date as text, with the year only if it is not the current one."""
    year = f" {moment.year}" if moment.year != now.year else ""
    return f"{moment:%a} {moment.day} {moment:%b}{year}"


def number(count: float) -> str:
    """Return a number with separated thousands."""
    return f"{count:,.0f}"


def times(count: int) -> str:
    """Return a count as `once` or `3 times`."""
    return "once" if count == 1 else f"{number(count)} times"


def web_link(address: str | None) -> str | None:
    """Return a scraped URL if it is http(s), else None: a page may name a `javascript:` URL."""
    if not address:
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in {"http", "https"} and parts.netloc else None


def source_link(name: str) -> str:
    """Return the path of a source's page."""
    return f"/sources/{quote(name, safe='')}"


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago, "colour": colour, "day": day, "number": number, "source_link": source_link,
    "span": span, "stamp": stamp, "times": times, "web_link": web_link,
}  # fmt: skip
