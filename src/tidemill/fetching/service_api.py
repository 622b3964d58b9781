"""Calls to the API of an outside service: judged, bounded, and with its secret kept out of every word that leaves."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.decoding import decode
from tidemill.pipeline.ports import Transport, WireFailure, WireRequest, WireResponse

HIDDEN = "***"
LONGEST_WORDS = 200


class ApiTrouble(msgspec.Struct, frozen=True):
    """What is wrong with a service, in our words; `until` is when to ask again.

    `is_its_own` tells a service that is unwell from one that only asks us to wait, and `failure` says what a job that
    depends on it ends with for now.
    """

    failure: Failure
    words: str
    until: datetime
    is_its_own: bool = True


class Api:
    """One service's API. Bodies come decoded and never larger than asked for; redirects are not followed."""

    def __init__(self, transport: Transport, base_url: str, secret: str) -> None:
        """`secret` is the key or token: whatever is said about a call, it is not in it."""
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
        """Call, and answer with what came or with why nothing did."""
        url = self._base_url + path + (f"?{urlencode(query)}" if query else "")
        request = WireRequest(
            url=url, headers=headers or {}, timeout=within, max_bytes=max_bytes, method=method, content=content
        )
        answer = await self._transport.send(request, _at_once)
        if isinstance(answer, WireFailure):
            return msgspec.structs.replace(answer, detail=self.clean(answer.detail))
        decoded = decode(answer.body, answer.headers.get("content-encoding", ""), max_bytes)
        return msgspec.structs.replace(answer, body=decoded.content, cut=answer.cut or decoded.cut)

    def clean(self, text: str) -> str:
        """The same words without the secret: services repeat it in their complaints."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def words_of(self, response: WireResponse) -> str:
        """The beginning of what a service said, on one line and without the secret."""
        text = response.body[: 4 * LONGEST_WORDS].decode("utf-8", "replace")
        return " ".join(self.clean(text).split())[:LONGEST_WORDS]


async def _at_once() -> None:
    """A service has its own limits and answers 429 for them; nothing of ours spaces the calls."""
