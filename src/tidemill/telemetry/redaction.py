"""Remove from logs what must not be there: passwords in addresses, tokens, cookies and keys."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from tidemill.core.checks.secrets import REDACTED, SECRET_NAME, redact_text


def redact_value(value: Any) -> Any:
    """Return the value without secrets, at any depth."""
    match value:
        case str():
            return redact_text(value)
        case bytes():
            return redact_text(value.decode("utf-8", "replace"))
        case Mapping():
            return {
                key: REDACTED if SECRET_NAME.search(str(key)) else redact_value(each) for key, each in value.items()
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
