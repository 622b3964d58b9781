"""Requests that spiders yield, as addresses of pages to follow: callback and data stand behind the `#`."""

import base64
import binascii
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec
from scrapy import Item, Request, Spider

LONGEST_NOTE = 4_000
"""Characters; a request hands a few values on, not a page."""
_MARK = "tidemill:"
_NOT_HANDED_ON = frozenset({"depth", "download_timeout", "download_slot", "download_latency", "dont_redirect"})
WHO_ASKS = frozenset({"user-agent", "host", "connection", "accept-encoding", "content-length"})
"""Headers that Tidemill sets itself, so that a request that has them is followed without them."""
HARMLESS = frozenset({
    "accept", "accept-language", "cache-control", "content-type", "dnt", "origin", "pragma", "referer",
    "upgrade-insecure-requests", "x-requested-with",
})  # fmt: skip
"""Headers that seldom change what is answered: a request is followed, and they are sent if the source has them."""
DEFAULT_CALLBACK = "_parse"
"""What Scrapy calls for a request without a callback; spiders with rules have one of their own."""


class Handover(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a followed page is to be read: the spider's method, its arguments and the request's meta."""

    callback: str = DEFAULT_CALLBACK
    arguments: Mapping[str, Any] = {}
    meta: Mapping[str, Any] = {}


class Unfollowed(NamedTuple):
    """A request that becomes no page, and why."""

    why: str


def address_of(request: Request, spider: Spider, sent: Collection[str] = ()) -> str | Unfollowed:
    """Return the address of a page to follow, or why the request cannot be followed.

    `sent` names the headers that the source sends with every request. Those that only say who asks, or in what form,
    hold no request up; of another one it is not known what the site answers without it.
    """
    if refused := _unsent(request, sent):
        return Unfollowed(refused)
    callback = _method_name(request.callback, spider)
    if callback is None:
        return Unfollowed("its callback is no method of the spider")
    meta = {name: value for name, value in request.meta.items() if name not in _NOT_HANDED_ON}
    handover = Handover(callback, request.cb_kwargs, meta)
    try:
        packed = base64.urlsafe_b64encode(msgspec.json.encode(handover, enc_hook=_item)).decode()
    except (TypeError, ValueError, OverflowError) as error:
        return Unfollowed(f"what it hands on cannot be written down: {error}"[:200])
    if len(packed) > LONGEST_NOTE:
        return Unfollowed("it hands on more than fits into a note")
    plain = request.url.partition("#")[0]
    return plain if handover == Handover() else f"{plain}#{_MARK}{packed}"


def _unsent(request: Request, sent: Collection[str]) -> str:
    """Return why a request is not sent as it is; '' if it may be followed by its address alone."""
    if request.method != "GET" or request.body:
        return f"a {request.method} request is not sent"
    own = headers_of(request).keys() - WHO_ASKS - HARMLESS - {name.lower() for name in sent}
    if own:
        return f"it sends headers of its own ({', '.join(sorted(own))}); write them under the source's headers"
    return "it sends cookies of its own; write them under the source's headers" if request.cookies else ""


def headers_of(request: Request) -> dict[str, str]:
    """Return a request's headers, their names in small letters."""
    return {
        name.decode("latin-1").lower(): (request.headers.get(name) or b"").decode("latin-1") for name in request.headers
    }


def handover_of(url: str) -> Handover:
    """Return how the page at an address is to be read; the usual way where the address says nothing."""
    note = url.partition("#")[2]
    if not note.startswith(_MARK):
        return Handover()
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(note.removeprefix(_MARK)), type=Handover)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        return Handover()


def _method_name(callback: Any, spider: Spider) -> str | None:
    if callback is None:
        return DEFAULT_CALLBACK
    name = getattr(callback, "__name__", "")
    return name if name and getattr(callback, "__self__", None) is spider and hasattr(spider, name) else None


def _item(value: Any) -> Any:
    if isinstance(value, Item):
        return dict(value)
    if isinstance(value, str):  # a link's text is of a class of its own
        return str(value)
    msg = f"a {type(value).__name__}"
    raise TypeError(msg)
