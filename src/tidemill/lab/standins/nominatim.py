"""A stand-in for Nominatim: `GET /search`, places by name, one answer at a time."""

import zlib
from collections.abc import Mapping
from datetime import datetime

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply, json_reply
from tidemill.lab.standins.unwell import FAULTS

_SPREAD = 0.02
"""Degrees around a town's centre within which its venues lie."""


class NominatimStandin:
    """Answers as nominatim.openstreetmap.org does: every venue of a known town is somewhere in that town.

    `asked` holds the questions with the moments at which they came; `fault` can be set at any time.
    """

    def __init__(self, towns: Mapping[str, tuple[float, float]]) -> None:
        """`towns` by name, with latitude and longitude."""
        self._towns = towns
        self.asked: list[tuple[str, datetime]] = []
        self.fault = StandinFault.NONE

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        if self.fault is not StandinFault.NONE:
            return FAULTS[self.fault]
        if call.path != "/search" or not call.headers.get("user-agent"):
            return json_reply({"error": {"code": 403, "message": "say who you are"}}, 403)
        query = call.query.get("q", "")
        self.asked.append((query, now))
        town = next((name for name in self._towns if name.lower() in query.lower()), None)
        return json_reply([] if town is None else [self._spot(query, town)])

    def _spot(self, query: str, town: str) -> dict[str, object]:
        latitude, longitude = self._towns[town]
        mark = zlib.crc32(query.encode())
        north, east = (mark % 1_000) / 1_000 - 0.5, (mark // 1_000 % 1_000) / 1_000 - 0.5
        return {
            "place_id": mark,
            "lat": f"{latitude + north * _SPREAD:.6f}",
            "lon": f"{longitude + east * _SPREAD:.6f}",
            "category": "amenity",
            "type": "theatre",
            "place_rank": 30,
            "display_name": query,
        }
