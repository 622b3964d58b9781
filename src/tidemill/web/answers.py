"""How we answer: values as ready bytes, mistakes as one clear shape."""

from typing import Any, Generic, TypeVar

import msgspec
from starlette.responses import Response

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list; pass `next` on as the cursor for what follows, None at the end."""

    items: list[T]
    next: str | None = None


class ErrorText(msgspec.Struct, frozen=True):
    """What went wrong (`code`, for programs), in words, and what to do about it."""

    code: str
    message: str
    hint: str = ""


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: ErrorText


class NotThere(Exception):
    """What was asked for does not exist."""

    def __init__(self, message: str, hint: str) -> None:
        """Say what is not there, and where to look."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadQuestion(Exception):
    """A parameter that cannot be used."""


def json_answer(value: Any, status: int = 200) -> Response:
    """A value as JSON, encoded once."""
    return Response(_encoder.encode(value), status, media_type="application/json")


def error_answer(status: int, code: str, message: str, hint: str = "") -> Response:
    """A mistake as JSON."""
    return json_answer(ErrorBody(ErrorText(code, message, hint)), status)
