"""A geocoder with Nominatim's API, asked once a second at most, as its operators demand."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.services.enrichment import Geocoded
from tidemill.core.source import Coordinates
from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason
from tidemill.pipeline.ports import Clock
from tidemill.services.client import Client

EXACT_KINDS = frozenset({
    "amenity", "building", "tourism", "leisure", "shop", "office", "historic", "craft", "club", "house",
})  # fmt: skip
"""OpenStreetMap classes of places that an event can take place at, rather than near."""
_EXACT_RANK = 26
"""Nominatim's `place_rank` from which an answer is a street or better."""


class _FoundPlace(msgspec.Struct, frozen=True):
    lat: str | float
    lon: str | float
    place_rank: int = 0
    category: str = ""
    kind: str = msgspec.field(default="", name="class")


_decode = msgspec.json.Decoder(list[_FoundPlace]).decode


class Nominatim:
    """Sends `GET /search`, one request at a time, spaced by `interval`."""

    def __init__(
        self,
        base_url: str,
        clock: Clock,
        *,
        user_agent: str,
        interval: timedelta = timedelta(seconds=1),
        timeout: timedelta = timedelta(seconds=15),
    ) -> None:
        """`user_agent` names us, which the service's rules demand."""
        self._client = Client(base_url, {"User-Agent": user_agent}, timeout=timeout)
        self._clock = clock
        self._interval = interval
        self._lock = asyncio.Lock()
        self._next_request_at: datetime | None = None

    async def locate(self, question: Mapping[str, Any]) -> Geocoded | NoAnswer:
        """Return where the place is, after waiting for the interval."""
        parameters = {"q": str(question["query"]), "format": "jsonv2", "limit": "1", "accept-language": "nl"}
        if country := str(question.get("country", "")):
            parameters["countrycodes"] = country
        async with self._lock:
            if self._next_request_at is not None:
                await self._clock.sleep_until(self._next_request_at)
            self._next_request_at = self._clock.now() + self._interval
            content = await self._client.get("/search", parameters)
        return content if isinstance(content, NoAnswer) else read_places(content)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def read_places(content: bytes) -> Geocoded | NoAnswer:
    """Return the best place in an answer; an empty list means that the place is unknown."""
    try:
        places = _decode(content)
        if not places:
            return Geocoded(None)
        place = places[0]
        point = Coordinates(round(float(place.lat), 6), round(float(place.lon), 6))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return NoAnswer(NoAnswerReason.GARBAGE, "not the JSON that the API promises")
    if not (-90 <= point.latitude <= 90 and -180 <= point.longitude <= 180):  # noqa: PLR2004 - the whole earth
        return NoAnswer(NoAnswerReason.GARBAGE, "coordinates that are not of this earth")
    return Geocoded(point, exact=place.place_rank >= _EXACT_RANK or (place.category or place.kind) in EXACT_KINDS)
