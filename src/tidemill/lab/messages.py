"""What a site of the lab is asked, and how it answers."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum

import msgspec


class Behaviour(StrEnum):
    """How an answer is sent."""

    NORMAL = "normal"
    HANG = "hang"
    DRIP = "drip"
    CUT = "cut"
    REFUSE = "refuse"


class LabRequest(msgspec.Struct, frozen=True):
    """A request as a site sees it; header names in lower case."""

    host: str
    path: str
    headers: Mapping[str, str] = {}


class LabResponse(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and how it is sent.

    `stream`, when set, yields the body piece by piece instead of `body`. A drip sends `pieces` pieces, one per
    `pause`; a cut announces the whole length and sends only `sent` bytes; a hang sends nothing at all.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""
    stream: Callable[[], Iterator[bytes]] | None = None
    behaviour: Behaviour = Behaviour.NORMAL
    pause: timedelta = timedelta(0)
    pieces: int = 1
    sent: int = 0


REFUSED = LabResponse(status=0, behaviour=Behaviour.REFUSE)
"""The connection is closed without an answer."""
HANGING = LabResponse(status=0, behaviour=Behaviour.HANG)
"""The request is taken and never answered."""


def html(status: int, page: str | bytes, headers: Mapping[str, str] | None = None) -> LabResponse:
    """An HTML page."""
    body = page.encode() if isinstance(page, str) else page
    return LabResponse(
        status=status, headers={"content-type": "text/html; charset=utf-8", **(headers or {})}, body=body
    )


def text(status: int, words: str) -> LabResponse:
    """Plain text."""
    return LabResponse(status=status, headers={"content-type": "text/plain; charset=utf-8"}, body=words.encode())
