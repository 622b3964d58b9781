"""The small client that outside APIs are asked with: bounded in time and size, not redirected, its key never shown."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason

LARGEST_ANSWER = 4_000_000
"""Bytes; no answer that we ask for is a tenth of it."""
LONGEST_WAIT = timedelta(hours=1)
_TOO_MANY = 429
_WELL, _FIRST_FAULT_OF_THEIRS = 2, 500
_OUT_OF_CREDIT = frozenset({401, 402, 403})


class Client:
    """Asks one API; every trouble comes back as a value."""

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout: timedelta) -> None:
        """`headers` hold the key, if there is one; they never appear in what is answered."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._timeout = aiohttp.ClientTimeout(total=timeout.total_seconds())
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, parameters: Mapping[str, str]) -> bytes | NoAnswer:
        """Ask with a GET."""
        return await self._ask("GET", URL(self._base + path).with_query(dict(parameters)), None)

    async def post(self, path: str, body: Any) -> bytes | NoAnswer:
        """Ask with a POST of JSON."""
        return await self._ask("POST", URL(self._base + path), msgspec.json.encode(body))

    async def close(self) -> None:
        """Let go of sockets."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _ask(self, method: str, url: URL, body: bytes | None) -> bytes | NoAnswer:
        session = self._session or self._open()
        try:
            async with session.request(method, url, data=body, allow_redirects=False) as response:
                return _judged(response, await _read(response))
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
    """The body, but for what lies beyond the largest answer that there can be."""
    pieces, size = [], 0
    while size <= LARGEST_ANSWER and (piece := await response.content.readany()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _judged(response: aiohttp.ClientResponse, content: bytes) -> bytes | NoAnswer:
    """The body of an answer that can be used, or what is wrong with it."""
    status = response.status
    if status == _TOO_MANY:
        wait = retry_after(response.headers.get("Retry-After", ""))
        return NoAnswer(NoAnswerReason.LIMITED, "too many requests", wait, sent=False)
    if status in _OUT_OF_CREDIT:
        return NoAnswer(NoAnswerReason.REFUSED, f"answered {status}: check the key and the credit", sent=False)
    if status >= _FIRST_FAULT_OF_THEIRS:
        wait = retry_after(response.headers.get("Retry-After", ""))
        return NoAnswer(NoAnswerReason.DOWN, f"answered {status}", wait, sent=False)
    if status // 100 != _WELL:
        return NoAnswer(NoAnswerReason.REFUSED, f"answered {status}", sent=False)
    if len(content) > LARGEST_ANSWER:
        return NoAnswer(NoAnswerReason.GARBAGE, "the answer is larger than any should be")
    return content


def retry_after(header: str) -> timedelta | None:
    """How long a service asks us to stay away, in seconds; the form with a date is left to our own patience."""
    return min(timedelta(seconds=int(header)), LONGEST_WAIT) if header.isascii() and header.isdigit() else None
