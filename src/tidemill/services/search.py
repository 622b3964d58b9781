"""Serper.dev: Google's results over HTTP, paid by the query."""

from datetime import timedelta

import msgspec

from tidemill.core.discovery.search import SearchResult
from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason
from tidemill.services.client import Client

MOST_HITS = 100
RESULTS_PER_QUERY = 20
_MAX_URL_LENGTH = 2_000


class _Organic(msgspec.Struct, frozen=True):
    link: str
    title: str = ""
    snippet: str = ""
    position: int = 0


class _Results(msgspec.Struct, frozen=True):
    organic: list[msgspec.Raw]


_decode = msgspec.json.Decoder(_Results).decode
_decode_one = msgspec.json.Decoder(_Organic).decode


class Serper:
    """Sends `POST /search`; broken results are left out one by one."""

    def __init__(
        self, base_url: str, key: str, *, timeout: timedelta = timedelta(seconds=20), results: int = 20
    ) -> None:
        """`results` is how many are asked for at once."""
        self._client = Client(base_url, {"X-API-KEY": key}, timeout=timeout)
        self._results = results

    async def search(self, query: str, *, country: str, language: str) -> tuple[SearchResult, ...] | NoAnswer:
        """Return the first results in a country and a language."""
        body = {"q": query, "gl": country.lower(), "hl": language, "num": RESULTS_PER_QUERY}
        content = await self._client.post("/search", body)
        return content if isinstance(content, NoAnswer) else read_results(content)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def read_results(content: bytes) -> tuple[SearchResult, ...] | NoAnswer:
    """Return the hits in an answer, without those that are broken."""
    try:
        organic = _decode(content).organic
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NoAnswer(NoAnswerReason.GARBAGE, "not the JSON that the API promises")
    hits = []
    for number, raw in enumerate(organic[:MOST_HITS], 1):
        try:
            one = _decode_one(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        hits.append(
            SearchResult(one.link[:_MAX_URL_LENGTH], one.title[:300], one.snippet[:500], one.position or number)
        )
    if organic and not hits:
        return NoAnswer(NoAnswerReason.GARBAGE, "results without a single link")
    return tuple(hits)
