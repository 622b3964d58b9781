"""Map status codes, headers and exceptions of the web to our failures."""

import asyncio
import re
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import aiohttp
from aiohttp import http_exceptions

from tidemill.core.failure import Failure
from tidemill.fetching.guard import RefusedAddress
from tidemill.pipeline.ports import FetchStatus, WireFailure

REDIRECTS = frozenset({301, 302, 303, 307, 308})
LONGEST_RETRY_AFTER = timedelta(days=30)  # beyond it a header is a mistake, and seconds may overflow a timedelta

_FAILURE_OF_CODE = {
    401: Failure.FORBIDDEN,
    403: Failure.FORBIDDEN,
    404: Failure.NOT_FOUND,
    408: Failure.TIMED_OUT,
    410: Failure.NOT_FOUND,
    429: Failure.RATE_LIMITED,
    451: Failure.FORBIDDEN,
    999: Failure.FORBIDDEN,  # what some networks answer to what they take for a robot
}

_STATUS_OF_FAILURE = {
    Failure.FORBIDDEN: FetchStatus.BLOCKED,
    Failure.RATE_LIMITED: FetchStatus.BLOCKED,
    Failure.TIMED_OUT: FetchStatus.TIMEOUT,
    Failure.TOO_LARGE: FetchStatus.TOO_LARGE,
    Failure.ROBOTS_DISALLOWED: FetchStatus.ROBOTS_BLOCKED,
}


def failure_of_code(code: int) -> Failure | None:
    """Return the failure that a status code means; None when it is a success."""
    if 200 <= code < 300:  # noqa: PLR2004 - the codes are the standard's
        return None
    known = _FAILURE_OF_CODE.get(code)
    if known is not None:
        return known
    return Failure.SERVER_ERROR if 500 <= code < 600 else Failure.CLIENT_ERROR  # noqa: PLR2004


_WHOLE_RANGE = re.compile(r"bytes 0-(\d{1,15})/(\d{1,15})", re.ASCII)


def is_part(code: int, content_range: str) -> bool:
    """Return whether a response says that it is a part of a page; nobody asked for one."""
    if code != 206:  # noqa: PLR2004 - the code is the standard's
        return False
    whole = _WHOLE_RANGE.fullmatch(content_range.strip().lower())
    return whole is None or int(whole[1]) + 1 != int(whole[2])


def status_of(failure: Failure | None) -> FetchStatus:
    """Return how a fetch with this failure ended."""
    return FetchStatus.OK if failure is None else _STATUS_OF_FAILURE.get(failure, FetchStatus.ERROR)


def retry_after(header: str, now: datetime) -> timedelta | None:
    """Return the wait that a Retry-After header asks for, in seconds or until a date; None if it says neither."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=min(int(text[:12]), 10**9)), LONGEST_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a year, or a zone, of twenty digits
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(moment - now, timedelta(0)), LONGEST_RETRY_AFTER)


_NEVER_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


def wire_failure(error: Exception) -> WireFailure:
    """Return the failure that an exception of aiohttp, the operating system or TLS means."""
    words = ": ".join(filter(None, (type(error).__name__, str(error))))
    failure = _failure_of(error)
    is_silence = failure in {Failure.TIMED_OUT, Failure.CONNECTION_LOST} and not isinstance(error, _NEVER_CONNECTED)
    return WireFailure(failure=failure, detail=words[:500], may_have_arrived=is_silence)


def _failure_of(error: Exception) -> Failure:
    if _is_refusal(error):
        return Failure.ADDRESS_REFUSED
    if "NO_APPLICATION_PROTOCOL" in str(
        error
    ):  # its TLS works, but it speaks HTTP/2 only, as the fallback transport does
        return Failure.SERVER_ERROR
    for kinds, failure in _FAILURE_OF_ERROR:
        if isinstance(error, kinds):
            return failure
    return Failure.CONNECTION_LOST


def _is_refusal(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, RefusedAddress) or isinstance(getattr(error, "os_error", None), RefusedAddress):
            return True
        error = error.__cause__
    return False


# In order: the first that fits. Many of aiohttp's errors are of several of these kinds at once.
_FAILURE_OF_ERROR: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Failure], ...] = (
    ((TimeoutError, asyncio.TimeoutError), Failure.TIMED_OUT),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror, UnicodeError), Failure.DNS_FAILED),
    ((aiohttp.ClientSSLError, ssl.SSLError), Failure.TLS_FAILED),
    (aiohttp.ClientPayloadError, Failure.TRUNCATED_BODY),
    ((aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError), Failure.BAD_URL),
    ((aiohttp.ClientResponseError, http_exceptions.BadHttpMessage), Failure.SERVER_ERROR),
)
