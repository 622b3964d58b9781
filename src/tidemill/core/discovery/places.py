"""Towns, distances between points, and whether a geocoded point is plausible."""

import re
from math import asin, cos, radians, sin, sqrt

import msgspec

from tidemill.core.source import Coordinates

EARTH_KM = 6_371.0


class Place(msgspec.Struct, frozen=True):
    """A town or municipality, as an offline gazetteer knows it; `spoken` is the name that people use.

    `country` is two letters; its sites are in `language`, and their times on the clocks of `time_zone`.
    """

    name: str
    region: str
    population: int
    coordinates: Coordinates
    spoken: str = ""
    country: str = "NL"
    language: str = "nl"
    time_zone: str = "Europe/Amsterdam"

    @property
    def common_name(self) -> str:
        """The name that people use for the place."""
        return self.spoken or self.name


def is_named(place: Place, text: str) -> bool:
    """Return whether a text names the place as a word of its own, or what is of it: Arnhemse, Berliner; not vrede."""
    names = "|".join(re.escape(name) for name in {place.name, place.common_name})
    return re.search(rf"(?<!\w)(?:{names})(?:se?|er)?(?!\w)", text, re.IGNORECASE) is not None


class BoundingBox(msgspec.Struct, frozen=True):
    """A box of coordinates, edges included."""

    south: float
    west: float
    north: float
    east: float

    def holds(self, point: Coordinates) -> bool:
        """Return whether the point lies in the box."""
        return self.south <= point.latitude <= self.north and self.west <= point.longitude <= self.east


NETHERLANDS = BoundingBox(50.7, 3.2, 53.7, 7.3)
"""The European part of the country, with a margin."""


def kilometres(one: Coordinates, other: Coordinates) -> float:
    """Return the distance in kilometres, by the haversine formula."""
    north, east = radians(other.latitude - one.latitude), radians(other.longitude - one.longitude)
    across = cos(radians(one.latitude)) * cos(radians(other.latitude))
    return 2 * EARTH_KM * asin(min(1.0, sqrt(sin(north / 2) ** 2 + across * sin(east / 2) ** 2)))


def is_believable(point: Coordinates, box: BoundingBox | None, near: Coordinates | None, within_km: float) -> bool:
    """Return whether a point is plausible: on earth, in its country, near its source."""
    if abs(point.latitude) > 90 or abs(point.longitude) > 180 or not (point.latitude or point.longitude):  # noqa: PLR2004 - the poles and the date line
        return False
    if box is not None and not box.holds(point):
        return False
    return near is None or kilometres(point, near) <= within_km
