"""Remove from logs what must not be there: passwords in addresses, tokens, cookies and keys."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

REDACTED = "***"

_NAME = r"(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|pwd|signature|authorization|cookie|session)"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_ASSIGNED = r"[\w-]{0,40}[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
_SCHEME = r"(?:bearer|basic|digest|negotiate)"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=://)[^/\s?#]*@"), f"{REDACTED}@"),
    (re.compile(rf"\b({_SCHEME}\s{{1,3}})[^\s\"',;]+", re.IGNORECASE), rf"\1{REDACTED}"),
    (re.compile(rf"({_NAME}{_ASSIGNED})(?!{_SCHEME}\s)[^\s&\"',;}}\]]+", re.IGNORECASE), rf"\1{REDACTED}"),
)
"""Credentials before the @ of an address, an Authorization header's value, and `name=value` for secret names."""


def redact_text(text: str) -> str:
    """Return the text without what looks like a secret."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text


def redact_value(value: Any) -> Any:
    """Return the value without secrets, at any depth."""
    match value:
        case str():
            return redact_text(value)
        case bytes():
            return redact_text(value.decode("utf-8", "replace"))
        case Mapping():
            return {
                key: REDACTED if _SECRET_NAME.search(str(key)) else redact_value(each) for key, each in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [redact_value(each) for each in value]
        case BaseException():
            return redact_text(f"{type(value).__name__}: {value}")
        case _:
            return value


def redact_line(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Redact a whole log line; a structlog processor."""
    cleaned: dict[str, Any] = redact_value(line)
    return cleaned
