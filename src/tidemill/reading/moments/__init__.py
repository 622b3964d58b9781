"""Dates and times as Dutch and English pages write them."""

from tidemill.reading.moments.iso import parse_iso
from tidemill.reading.moments.moment import VAGUE, Grain, Moment, in_zone, local, moved, zone_of
from tidemill.reading.moments.reader import find_moments, parse_end, parse_moment, parse_moments

__all__ = [
    "VAGUE",
    "Grain",
    "Moment",
    "find_moments",
    "in_zone",
    "local",
    "moved",
    "parse_end",
    "parse_iso",
    "parse_moment",
    "parse_moments",
    "zone_of",
]
