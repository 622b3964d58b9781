"""The bodies of responses: values as ready bytes, errors in one shape."""

from collections.abc import Callable
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec
from starlette.responses import Response

from tidemill.core.checks.secrets import redact_text

T = TypeVar("T")

_encoder = msgspec.json.Encoder()

PROBLEM_TYPE = "application/problem+json"


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list; pass `next` on as the cursor for what follows, None at the end."""

    items: list[T]
    next: str | None = None


class Counted(msgspec.Struct, frozen=True):
    """How many things an action was for."""

    count: int


class ErrorText(msgspec.Struct, frozen=True):
    """What went wrong (`code`, for programs), in words, and what to do about it."""

    code: str
    message: str
    hint: str = ""


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The body of every answer that is not a success: problem details as RFC 9457 has them, with a code and a hint.

    `code` is for programs, `detail` is in words, and `hint` says what to do.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""


class ResourceNotFound(Exception):
    """What was asked for does not exist."""

    def __init__(self, message: str, hint: str) -> None:
        """Say what is not there, and where to look."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class Expired(Exception):
    """A cursor from before the oldest that is kept; the message says where to begin again."""


class BadParameter(Exception):
    """A parameter that cannot be used."""


def json_response(value: Any, status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(_encoder.encode(value), status, media_type="application/json")


def redacted_response(value: Any) -> Response:
    """Return a value as JSON without what looks like a secret: whoever may look need not know the keys in addresses."""
    return json_response(_redacted(msgspec.to_builtins(value)))


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [_redacted(each) for each in value]
    return {name: _redacted(each) for name, each in value.items()} if isinstance(value, dict) else value


def error_response(status: int, code: str, message: str, hint: str = "") -> Response:
    """Return an error as problem details."""
    problem = ProblemDetails(title=_title(status), status=status, detail=message, code=code, hint=hint)
    return Response(_encoder.encode(problem), status, media_type=PROBLEM_TYPE)


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def list_page(found: list[T], limit: int, cursor: Callable[[T], object] = attrgetter("id")) -> Listed[T]:
    """Return the first `limit` of what was found, and where to go on if there is more."""
    following = str(cursor(found[limit - 1])) if len(found) > limit else None
    return Listed(found[:limit], following)
