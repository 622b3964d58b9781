"""A map of where things are, drawn by the server: points, a grid of degrees and a scale; no tiles from anybody."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tidemill.web.charts.scales import Scale, ticks

MAP_WIDTH, MAP_HEIGHT, EDGE = 900.0, 300.0, 26.0
KILOMETRES_A_DEGREE = 111.32
LEAST_SPREAD = 0.01
"""Degrees: points that lie closer together are not drawn as if they lay apart."""
MOST_MAP_POINTS = 500
_ROUND_KILOMETRES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0)


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A thing on the map: where it is, what it is called and the path of its page."""

    latitude: float
    longitude: float
    name: str
    path: str


def place_map(points: Sequence[MapPoint], label: str) -> Markup:
    """Return a map of the points, each a link; nothing at all when none of them lies anywhere."""
    shown = [each for each in points if math.isfinite(each.latitude) and math.isfinite(each.longitude)]
    shown = shown[:MOST_MAP_POINTS]
    if not shown:
        return Markup()
    across, down, kilometre = _scales(shown)
    drawn = _grid(across, down) + _scale_bar(kilometre)
    for each in shown:
        drawn += Markup(
            '<a href="{}"><circle class="map-point" cx="{}" cy="{}" r="7"><title>{}</title></circle></a>'
        ).format(each.path, across.place(each.longitude), down.place(each.latitude), each.name[:120])
    return Markup(
        '<figure class="chart-figure"><svg class="chart map" role="group" aria-label="{}" viewBox="0 0 {:g} {:g}">'
        '<rect class="map-paper" width="{:g}" height="{:g}" rx="8"/>{}</svg></figure>'
    ).format(f"{label}: {len(shown)} on the map", MAP_WIDTH, MAP_HEIGHT, MAP_WIDTH, MAP_HEIGHT, drawn)


def _scales(points: Sequence[MapPoint]) -> tuple[Scale, Scale, float]:
    """Return how degrees fall on the drawing, and how many of its units make a kilometre; north is up."""
    south, north = min(each.latitude for each in points), max(each.latitude for each in points)
    west, east = min(each.longitude for each in points), max(each.longitude for each in points)
    middle_latitude, middle_longitude = (south + north) / 2, (west + east) / 2
    shrink = max(0.05, math.cos(math.radians(middle_latitude)))
    room_across, room_down = MAP_WIDTH - 2 * EDGE, MAP_HEIGHT - 2 * EDGE
    tall = max(north - south, LEAST_SPREAD)
    wide = max((east - west) * shrink, LEAST_SPREAD)
    unit = min(room_across / wide, room_down / tall)
    half_wide, half_tall = MAP_WIDTH / unit / shrink / 2, MAP_HEIGHT / unit / 2
    across = Scale(middle_longitude - half_wide, middle_longitude + half_wide, 0, MAP_WIDTH)
    down = Scale(middle_latitude - half_tall, middle_latitude + half_tall, MAP_HEIGHT, 0)
    return across, down, unit / KILOMETRES_A_DEGREE


def _grid(across: Scale, down: Scale) -> Markup:
    drawn = Markup()
    for mark in ticks(across.low, across.high, 5):
        if 0 < (x := across.place(mark)) < MAP_WIDTH:
            drawn += Markup('<line class="chart-grid" x1="{}" x2="{}" y1="0" y2="{:g}"/>').format(x, x, MAP_HEIGHT)
            drawn += _mark(x + 3, MAP_HEIGHT - 5, f"{abs(mark):g}° {'E' if mark >= 0 else 'W'}")
    for mark in ticks(down.low, down.high, 3):
        if 0 < (y := down.place(mark)) < MAP_HEIGHT - 20:
            drawn += Markup('<line class="chart-grid" x1="0" x2="{:g}" y1="{}" y2="{}"/>').format(MAP_WIDTH, y, y)
            drawn += _mark(4, y - 4, f"{abs(mark):g}° {'N' if mark >= 0 else 'S'}")
    return drawn


def _scale_bar(kilometre: float) -> Markup:
    length = max((each for each in _ROUND_KILOMETRES if each * kilometre <= MAP_WIDTH / 4), default=0.1)
    end = MAP_WIDTH - 14
    start = round(end - length * kilometre, 1)
    line = Markup('<line class="map-bar" x1="{}" x2="{}" y1="16" y2="16"/>').format(start, end)
    return line + _mark(start, 31, f"{length:g} km")


def _mark(x: float, y: float, words: str) -> Markup:
    return Markup('<text x="{}" y="{}">{}</text>').format(round(x, 1), round(y, 1), words)
