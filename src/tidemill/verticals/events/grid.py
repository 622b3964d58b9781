"""The map in squares of a quarter of a degree: how a database finds what is near by equality alone.

Of that size a town and what is around it lie in a dozen: each costs a look into an index, each event outside a filter.
"""

from math import ceil, cos, floor, radians

from tidemill.core.source import Coordinates

PER_DEGREE = 4
_ROW = 360 * PER_DEGREE
KM_PER_DEGREE = 111.2
"""Along a meridian; along a parallel it is this times the cosine of the latitude."""


def square_of(point: Coordinates) -> int:
    """The number of the square that holds the point."""
    return _number(floor((point.latitude + 90) * PER_DEGREE), floor((point.longitude + 180) * PER_DEGREE))


def squares_within(centre: Coordinates, kilometres: float) -> list[int]:
    """The squares that a circle around the centre touches, and a few that it nearly does."""
    north, east = reach(centre, kilometres)
    columns = _span(centre.longitude + 180, east)
    rows = _span(centre.latitude + 90, north)
    if columns.start >= 0 and columns.stop <= _ROW:
        return [first + column for first in range(rows.start * _ROW, rows.stop * _ROW, _ROW) for column in columns]
    return sorted({row * _ROW + column % _ROW for row in rows for column in columns})


def reach(centre: Coordinates, kilometres: float) -> tuple[float, float]:
    """How many degrees north and east the circle reaches."""
    north = kilometres / KM_PER_DEGREE
    return north, min(180.0, north / max(0.01, cos(radians(centre.latitude))))


def _span(middle: float, degrees: float) -> range:
    return range(floor((middle - degrees) * PER_DEGREE), ceil((middle + degrees) * PER_DEGREE))


def _number(row: int, column: int) -> int:
    return row * _ROW + column
