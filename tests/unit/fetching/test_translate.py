import socket
import ssl
from datetime import timedelta
from email.utils import format_datetime

import aiohttp
import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.fetching.guard import RefusedAddress
from tidemill.fetching.translate import failure_of_code, is_part, retry_after, status_of, wire_failure
from tidemill.pipeline.ports import FetchStatus

pytestmark = pytest.mark.shows("F1")


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        (200, None), (204, None), (206, None), (299, None),
        (304, Failure.CLIENT_ERROR), (300, Failure.CLIENT_ERROR), (301, Failure.CLIENT_ERROR),
        (400, Failure.CLIENT_ERROR), (401, Failure.FORBIDDEN), (403, Failure.FORBIDDEN), (404, Failure.NOT_FOUND),
        (405, Failure.CLIENT_ERROR), (408, Failure.TIMED_OUT), (410, Failure.NOT_FOUND), (418, Failure.CLIENT_ERROR),
        (429, Failure.RATE_LIMITED), (451, Failure.FORBIDDEN), (500, Failure.SERVER_ERROR),
        (502, Failure.SERVER_ERROR), (503, Failure.SERVER_ERROR), (504, Failure.SERVER_ERROR),
        (599, Failure.SERVER_ERROR), (999, Failure.FORBIDDEN), (600, Failure.CLIENT_ERROR),
    ],
)  # fmt: skip
def test_a_status_code_means_one_failure_or_none(code: int, failure: Failure | None) -> None:
    assert failure_of_code(code) is failure


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (None, FetchStatus.OK),
        (Failure.FORBIDDEN, FetchStatus.BLOCKED),
        (Failure.RATE_LIMITED, FetchStatus.BLOCKED),
        (Failure.TIMED_OUT, FetchStatus.TIMEOUT),
        (Failure.TOO_LARGE, FetchStatus.TOO_LARGE),
        (Failure.ROBOTS_DISALLOWED, FetchStatus.ROBOTS_BLOCKED),
        (Failure.NOT_FOUND, FetchStatus.ERROR),
        (Failure.ADDRESS_REFUSED, FetchStatus.ERROR),
    ],
)
def test_a_failure_ends_a_fetch_in_one_way(failure: Failure | None, status: FetchStatus) -> None:
    assert status_of(failure) is status


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta(0)),
        (format_datetime(NOON + timedelta(hours=1), usegmt=True), timedelta(hours=1)),
        (format_datetime(NOON - timedelta(hours=1), usegmt=True), timedelta(0)),
        ("Mon, 02 Mar 2026 12:30:00 -0000", timedelta(minutes=30)),
        ("9" * 40, timedelta(days=30)),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("Mon, 99 Foo 2026", None),
        ("Mon, 01 Jan 99999999999 10:00:00 GMT", None),
        ("Mon, 01 Jan 2027 10:00:00 -99999999999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_otherwise_nothing(header: str, wait: timedelta | None) -> None:
    assert retry_after(header, NOON) == wait


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (TimeoutError(), Failure.TIMED_OUT),
        (aiohttp.ServerTimeoutError(), Failure.TIMED_OUT),
        (aiohttp.ConnectionTimeoutError(), Failure.TIMED_OUT),
        (socket.gaierror(), Failure.DNS_FAILED),
        (UnicodeError("label too long"), Failure.DNS_FAILED),
        (aiohttp.ServerDisconnectedError(), Failure.CONNECTION_LOST),
        (aiohttp.ClientOSError(104, "reset"), Failure.CONNECTION_LOST),
        (ConnectionResetError(), Failure.CONNECTION_LOST),
        (ssl.SSLError("bad record"), Failure.TLS_FAILED),
        (ssl.SSLError(1, "[SSL: TLSV1_ALERT_NO_APPLICATION_PROTOCOL] no application protocol"), Failure.SERVER_ERROR),
        (aiohttp.ClientPayloadError("cut"), Failure.TRUNCATED_BODY),
        (aiohttp.InvalidURL("http://"), Failure.BAD_URL),
        (RefusedAddress(), Failure.ADDRESS_REFUSED),
        (caused(aiohttp.ClientOSError(), RefusedAddress()), Failure.ADDRESS_REFUSED),
        (aiohttp.ClientError("anything else"), Failure.CONNECTION_LOST),
    ],
)
def test_an_exception_of_the_network_means_one_failure(error: Exception, failure: Failure) -> None:
    assert wire_failure(error).failure is failure
    assert type(error).__name__ in wire_failure(error).detail


@pytest.mark.parametrize(
    ("code", "content_range", "is_one"),
    [
        (206, "bytes 0-1/100", True), (206, "", True), (206, "bytes 0-99/*", True), (206, "pages 1-2/2", True),
        (206, "bytes 0-99/100", False), (206, "Bytes 0-99/100 ", False), (200, "bytes 0-1/100", False),
    ],
)  # fmt: skip
def test_a_part_of_a_page_is_told_by_its_status_and_range(code: int, content_range: str, *, is_one: bool) -> None:
    assert is_part(code, content_range) is is_one
