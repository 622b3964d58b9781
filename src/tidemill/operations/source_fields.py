"""The fields of a source in a sources file: how each is read and validated."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import yaml
from yaml.constructor import SafeConstructor

from tidemill.core.checks.languages import language_problem
from tidemill.core.checks.names import name_problem
from tidemill.core.pacing import Pace
from tidemill.core.schedules import BadSchedule, parse_schedule
from tidemill.core.source import FetcherKind, Visibility
from tidemill.core.tags import ordered_tags, tags_problem
from tidemill.core.urls import BadUrl, normalize
from tidemill.operations.mistakes import unknown_name
from tidemill.operations.yaml_nodes import BadValue, fields_of, mapping_of, text_of

MOST_PRIORITY = 1_000
LONGEST_WAIT = timedelta(days=1)


def flag(node: yaml.Node) -> bool:
    """Return a boolean."""
    if node.tag != "tag:yaml.org,2002:bool":
        msg = "write true or false"
        raise BadValue(msg)
    return bool(SafeConstructor().construct_object(node))


def number(node: yaml.Node, low: float, high: float) -> float:
    """Return a number within bounds."""
    try:
        found = float(text_of(node))
    except ValueError as error:
        msg = f"write a number from {low:g} to {high:g}"
        raise BadValue(msg) from error
    if not low <= found <= high:
        msg = f"{found:g} is out of bounds; write a number from {low:g} to {high:g}"
        raise BadValue(msg)
    return found


def whole(node: yaml.Node, low: int, high: int) -> int:
    """Return a whole number within bounds."""
    found = number(node, low, high)
    if found != int(found):
        msg = f"{found:g} is not whole; write a whole number from {low} to {high}"
        raise BadValue(msg)
    return int(found)


def address(node: yaml.Node) -> str:
    """Return a normalized URL."""
    try:
        return normalize(text_of(node))
    except BadUrl as error:
        raise BadValue(str(error)) from error


def schedule(node: yaml.Node) -> str:
    """Return a valid schedule text."""
    text = text_of(node)
    try:
        parse_schedule(text)
    except BadSchedule as error:
        raise BadValue(str(error), "schedule") from error
    return text


def zone(node: yaml.Node) -> str:
    """Return a time zone's name."""
    name = text_of(node)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadValue(unknown_name("time zone", name, available_timezones())) from error
    return name


def source_name(node: yaml.Node) -> str:
    """Return a name that can stand in addresses, file names and commands."""
    name = text_of(node)
    if problem := name_problem(name):
        raise BadValue(problem)
    return name


def language(node: yaml.Node) -> str:
    """Return a language's code."""
    code = text_of(node)
    if problem := language_problem(code):
        raise BadValue(problem)
    return code


def one_of(kind: type[StrEnum], node: yaml.Node) -> Any:
    """Return a member of an enum, whatever the case of its letters."""
    text = text_of(node)
    for member in kind:
        if member.value.lower() == text.lower():
            return member
    raise BadValue(unknown_name("value", text, [member.value for member in kind]))


def moment(node: yaml.Node) -> datetime:
    """Return a date or time as a datetime; without a zone it is UTC."""
    try:
        found = SafeConstructor().construct_object(node)
        if isinstance(found, str):  # in quotes, or from a program that has no dates, such as JSON
            found = datetime.fromisoformat(found)
    except ValueError:
        found = None
    if isinstance(found, date) and not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day, tzinfo=UTC)
    if not isinstance(found, datetime):
        msg = "write a date such as 2026-03-02"
        raise BadValue(msg)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def headers(node: yaml.Node) -> dict[str, str]:
    """Return request headers: names and single-line values."""
    found = {str(name): str(value) for name, value in mapping_of(node).items()}
    for name, value in found.items():
        if not name.replace("-", "").isalnum() or not name.isascii() or not value.isprintable():
            msg = f"{name!r} is no header; write letters and dashes, a colon, one line: `Accept-Language: nl`"
            raise BadValue(msg)
    return found


def pace(node: yaml.Node) -> Pace:
    """Return the rate limit of the host."""
    parts = known_fields(node, ("interval_seconds", "burst", "parallel"))
    default = Pace()
    interval, burst, parallel = parts.get("interval_seconds"), parts.get("burst"), parts.get("parallel")
    return Pace(
        timedelta(seconds=number(interval, 0, LONGEST_WAIT.total_seconds())) if interval else default.interval,
        whole(burst, 1, 1_000) if burst else default.burst,
        whole(parallel, 1, 1_000) if parallel else default.parallel,
    )


def approval(node: yaml.Node) -> dict[str, Any]:
    """Return who reviewed the terms of service, and when."""
    parts = known_fields(node, ("reviewed_at", "approved_by"))
    found: dict[str, Any] = {}
    if "reviewed_at" in parts:
        found["tos_reviewed_at"] = moment(parts["reviewed_at"])
    if "approved_by" in parts:
        found["tos_approved_by"] = text_of(parts["approved_by"])
    return found


def tags(node: yaml.Node) -> tuple[str, ...]:
    """Return tags: a list of them, or one text with spaces between."""
    words = [text_of(each) for each in node.value] if isinstance(node, yaml.SequenceNode) else text_of(node).split()
    if problem := tags_problem(words):
        raise BadValue(problem)
    return ordered_tags(words)


def known_fields(node: yaml.Node, names: tuple[str, ...]) -> dict[str, yaml.Node]:
    """Return the fields of a mapping; raise `BadValue` for an unknown one."""
    found = fields_of(node)
    for name in found:
        if name not in names:
            raise BadValue(unknown_name("field", name, names))
    return found


def _under(field: str, read: Callable[[yaml.Node], Any]) -> Callable[[yaml.Node], dict[str, Any]]:
    return lambda node: {field: read(node)}


FIELDS: Mapping[str, Callable[[yaml.Node], Mapping[str, Any]]] = {
    "name": _under("name", source_name),
    "vertical": _under("vertical", text_of),
    "base_url": _under("base_url", address),
    "adapter": _under("adapter_id", text_of),
    "fetcher": _under("fetcher", lambda node: one_of(FetcherKind, node)),
    "enabled": _under("enabled", flag),
    "tier": _under("tier", text_of),
    "language": _under("language", language),
    "time_zone": _under("time_zone", zone),
    "city": _under("city", text_of),
    "latitude": _under("latitude", lambda node: number(node, -90, 90)),
    "longitude": _under("longitude", lambda node: number(node, -180, 180)),
    "precedence": _under("precedence", lambda node: whole(node, 0, 100)),
    "pace": _under("pace", pace),
    "timeout_seconds": _under("timeout", lambda node: timedelta(seconds=number(node, 0.1, 3_600))),
    "max_pages": _under("max_pages", lambda node: whole(node, 1, 1_000)),
    "headers": _under("headers", headers),
    "tos": approval,
    "robots_compliant": _under("robots_compliant", flag),
    "visibility": _under("visibility", lambda node: one_of(Visibility, node)),
    "trust": _under("trust", mapping_of),
    "settings": _under("adapter_settings", mapping_of),
    "tags": _under("tags", tags),
}
"""The fields of an entry, besides `targets`, and how each sets fields of a source."""

REQUIRED = ("name", "vertical", "base_url", "adapter")
TARGET_FIELDS = ("url", "schedule", "priority", "adapter", "notes")
