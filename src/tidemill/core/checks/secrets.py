"""What looks like a secret in a text, and the text without it: for logs, errors, notices and lists."""

import re

REDACTED = "***"

_NAME = r"(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|pwd|signature|authorization|cookie|session)"
SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
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
