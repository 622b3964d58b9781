"""Calls to the API of an outside service: judged, bounded, and with its secret kept out of every message."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.decoding import decode
from tidemill.pipeline.ports import Transport, WireFailure, WireRequest, WireResponse

REDACTED = "***"
LONGEST_EXCERPT = 200


class ApiTrouble(msgspec.Struct, frozen=True):
    """What is wrong with a service, for a person; `until` is when to call it again.

    `is_service_fault` tells a service that does not work from one that only asks us to wait; `failure` is what a job
    that depends on it ends with for now.
    """

    failure: Failure
    message: str
    until: datetime
    is_service_fault: bool = True


class ServiceApi:
    """One service's API; bodies come decoded and never larger than asked for, and redirects are not followed."""

    def __init__(self, transport: Transport, base_url: str, secret: str) -> None:
        """`secret` is the key or token; it is removed from every message about a call."""
        self._transport = transport
        self._base_url = base_url.rstrip("/")
        self._secrets = tuple({secret, quote(secret, safe="")} - {""})

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        within: timedelta,
        max_bytes: int,
    ) -> WireResponse | WireFailure:
        """Call the API and return its response, or why there is none."""
        url = self._base_url + path + (f"?{urlencode(query)}" if query else "")
        request = WireRequest(
            url=url, headers=headers or {}, timeout=within, max_bytes=max_bytes, method=method, content=content
        )
        answer = await self._transport.send(request, _no_wait)
        if isinstance(answer, WireFailure):
            return msgspec.structs.replace(answer, detail=self.redact(answer.detail))
        decoded = decode(answer.body, answer.headers.get("content-encoding", ""), max_bytes)
        return msgspec.structs.replace(answer, body=decoded.content, cut=answer.cut or decoded.cut)

    def redact(self, text: str) -> str:
        """Return the text without the secret: services repeat it in their error messages."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def excerpt(self, response: WireResponse) -> str:
        """Return the beginning of a response's body, on one line and without the secret."""
        text = response.body[: 4 * LONGEST_EXCERPT].decode("utf-8", "replace")
        return " ".join(self.redact(text).split())[:LONGEST_EXCERPT]


async def _no_wait() -> None:
    """Return at once: a service limits us itself and answers 429, so nothing of ours spaces the calls."""
