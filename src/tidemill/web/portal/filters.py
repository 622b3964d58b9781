"""The template filters, which format values for pages."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from tidemill.core.checks.secrets import redact_text

STATES = {
    "healthy": "good", "SUCCESS": "good", "CLOSED": "good", "done": "good", "ok": "good", "scheduled": "good",
    "degraded": "warn", "PARTIAL": "warn", "HALF_OPEN": "warn", "waiting": "warn", "RUNNING": "busy", "leased": "busy",
    "running": "busy", "down": "bad", "FAILED": "bad", "OPEN": "bad", "dead": "bad", "failed": "bad",
    "cancelled": "bad", "postponed": "warn",
    "on": "good", "off": "warn", "pending": "warn", "retrying": "busy", "resolved": "good", "ACTIVE": "good",
    "BROKEN": "bad", "PAUSED": "warn", "approved": "good", "accepted": "good", "open": "bad", "over": "good",
    "P1": "bad", "P2": "warn", "PENDING": "warn", "APPROVED": "good", "released": "good", "sent": "good",
    "well": "good", "failing": "bad", "yields nothing": "bad", "held back": "warn",
}  # fmt: skip
"""The colour of each state; pages always show its name too, for people who do not see colours."""

LONGEST_NAME = 40
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


def with_code(words: str) -> Markup:
    """A sentence for a page: what it writes between backticks, such as a command, is shown as code; all is escaped.

    A moment that it names becomes a `time`, which a script turns into the reader's own zone.
    """
    parts = str(words).split("`")
    if len(parts) % 2 == 0:  # a backtick without its partner: nobody can tell what it means
        return _with_moments(words)
    pieces = (
        Markup("<code>{}</code>").format(part) if number % 2 else _with_moments(part)
        for number, part in enumerate(parts)
    )
    return Markup("").join(pieces)


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) UTC")


def _with_moments(words: str) -> Markup:
    written = str(escape(words))
    return Markup(_STAMP.sub(r'<time datetime="\1T\2Z" data-stamp>\1 \2 UTC</time>', written))  # noqa: S704 - escaped above


def cause_of(failure: str, message: str) -> str:
    """Return in words what failed and how, once: many messages name the failure themselves."""
    name = in_words(failure)
    said = message.replace(failure, name)[:160]
    return said if not said or name in said.lower() else f"{name}: {said}"


def truncated_list(names: Sequence[str], most: int = 2) -> str:
    """Return the first of some names, and how many more there are."""
    shown = ", ".join(each if len(each) <= LONGEST_NAME else each[:LONGEST_NAME] + "…" for each in names[:most])
    return f"{shown} and more" if len(names) > most else shown


def seconds_span(seconds: float) -> str:
    """Return a number of seconds as text, in its largest unit."""
    return span(timedelta(seconds=seconds))


def source_link(name: str) -> str:
    """Return the path of a source's page."""
    return f"/sources/{quote(name, safe='')}"


def masked(value: Any) -> Any:
    """Return what a list shows of a value: addresses and errors without what looks like a secret."""
    return redact_text(value) if isinstance(value, str) else value


def capitalize_first(text: str) -> str:
    """Return a text with its first letter large, and the rest as it is."""
    return text[:1].upper() + text[1:]


def in_words(name: str) -> str:
    """Return a name of ours as people read it."""
    return name.lower().replace("_", " ")


FILTERS: dict[str, Callable[..., Any]] = {
    "cause_of": cause_of, "masked": masked, "seconds_span": seconds_span, "truncated_list": truncated_list,
    "with_code": with_code,
    "ago": ago, "capitalize_first": capitalize_first, "colour": colour, "day": day,
    "in_words": in_words, "number": number, "source_link": source_link,
    "span": span, "stamp": stamp, "times": times, "web_link": web_link,
}  # fmt: skip
