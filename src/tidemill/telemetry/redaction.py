"""What must never stand in a log: passwords in addresses, tokens, cookies and keys."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

HIDDEN = "***"

_NAME = r"(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|pwd|signature|authorization|cookie|session)"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_ASSIGNED = r"[\w-]{0,40}[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
_SCHEME = r"(?:bearer|basic|digest|negotiate)"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=://)[^/\s?#]*@"), f"{HIDDEN}@"),
    (re.compile(rf"\b({_SCHEME}\s{{1,3}})[^\s\"',;]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(rf"({_NAME}{_ASSIGNED})(?!{_SCHEME}\s)[^\s&\"',;}}\]]+", re.IGNORECASE), rf"\1{HIDDEN}"),
)
"""Credentials before the @ of an address, an Authorization header's value, and `name=value` for secret names."""


def clean(text: str) -> str:
    """The same text without what looks like a secret."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text


def clean_value(value: Any) -> Any:
    """The same value without secrets, however deep they sit."""
    match value:
        case str():
            return clean(value)
        case bytes():
            return clean(value.decode("utf-8", "replace"))
        case Mapping():
            return {key: HIDDEN if _SECRET_NAME.search(str(key)) else clean_value(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [clean_value(each) for each in value]
        case BaseException():
            return clean(f"{type(value).__name__}: {value}")
        case _:
            return value


def redact(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Clean a whole log line; a structlog processor."""
    cleaned: dict[str, Any] = clean_value(line)
    return cleaned
