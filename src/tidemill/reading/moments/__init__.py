"""Dates and times as Dutch and English pages write them (E2)."""

from tidemill.reading.moments.moment import Grain, Moment, in_zone, local, zone_of
from tidemill.reading.moments.reader import parse_end, parse_moment

__all__ = ["Grain", "Moment", "in_zone", "local", "parse_end", "parse_moment", "zone_of"]
