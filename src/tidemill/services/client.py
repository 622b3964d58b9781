"""The client for outside APIs: bounded in time and size, follows no redirects, never shows its key."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason

MAX_ANSWER_BYTES = 4_000_000
"""Bytes; no answer that we ask for is a tenth of it."""
MAX_RETRY_AFTER = timedelta(hours=1)
_TOO_MANY_REQUESTS = 429
_SUCCESS_CLASS, _FIRST_SERVER_ERROR = 2, 500
_OUT_OF_CREDIT = frozenset({401, 402, 403})


class Client:
    """Calls one API; every failure is returned as a value."""

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout: timedelta) -> None:
        """`headers` hold the key, if there is one; they never appear in an answer."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._timeout = aiohttp.ClientTimeout(total=timeout.total_seconds())
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, parameters: Mapping[str, str]) -> bytes | NoAnswer:
        """Send a GET and return the body, or why there is none."""
        return await self._request("GET", URL(self._base + path).with_query(dict(parameters)), None)

    async def post(self, path: str, body: Any) -> bytes | NoAnswer:
        """Send JSON by POST and return the body, or why there is none."""
        return await self._request("POST", URL(self._base + path), msgspec.json.encode(body))

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _request(self, method: str, url: URL, body: bytes | None) -> bytes | NoAnswer:
        session = self._session or self._open()
        try:
            async with session.request(method, url, data=body, allow_redirects=False) as response:
                return _usable_body(response, await _read(response))
        except aiohttp.ClientConnectorError:
            return NoAnswer(NoAnswerReason.DOWN, "no connection", sent=False)
        except TimeoutError:
            return NoAnswer(NoAnswerReason.DOWN, "no answer in time")
        except (aiohttp.ClientError, OSError) as error:
            return NoAnswer(NoAnswerReason.DOWN, type(error).__name__)

    def _open(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json", **self._headers}
        self._session = aiohttp.ClientSession(
            headers=headers, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Read the body, but not far beyond the largest answer that is accepted."""
    pieces, size = [], 0
    while size <= MAX_ANSWER_BYTES and (piece := await response.content.readany()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _usable_body(response: aiohttp.ClientResponse, content: bytes) -> bytes | NoAnswer:
    """Return the body of an answer that can be used, or what is wrong with it."""
    status = response.status
    if status == _TOO_MANY_REQUESTS:
        wait = retry_after(response.headers.get("Retry-After", ""))
        return NoAnswer(NoAnswerReason.LIMITED, "too many requests", wait, sent=False)
    if status in _OUT_OF_CREDIT:
        return NoAnswer(NoAnswerReason.REFUSED, f"answered {status}: check the key and the credit", sent=False)
    if status >= _FIRST_SERVER_ERROR:
        wait = retry_after(response.headers.get("Retry-After", ""))
        return NoAnswer(NoAnswerReason.DOWN, f"answered {status}", wait, sent=False)
    if status // 100 != _SUCCESS_CLASS:
        return NoAnswer(NoAnswerReason.REFUSED, f"answered {status}", sent=False)
    if len(content) > MAX_ANSWER_BYTES:
        return NoAnswer(NoAnswerReason.GARBAGE, "the answer is larger than any should be")
    return content


def retry_after(header: str) -> timedelta | None:
    """Return the wait that a service asks for in seconds; None for the form with a date."""
    return min(timedelta(seconds=int(header)), MAX_RETRY_AFTER) if header.isascii() and header.isdigit() else None
