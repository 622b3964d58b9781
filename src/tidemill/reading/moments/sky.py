"""Where the sun and the moon stand, for the calendars that go by them: good to a few minutes of time.

After Meeus, Astronomical Algorithms, chapters 25, 47 and 49, with the largest terms only. Moments are Julian days.
"""

from datetime import date, timedelta
from math import asin, atan2, cos, degrees, floor, radians, sin

MONTH = 29.530588861
"""Days from one new moon to the next, on the average."""
_FIRST = 2451550.09766
_UNIX_DAY = 2440587.5
_EPOCH = date(1970, 1, 1)
_AGE_OF_2000, _CENTURY = 2451545.0, 36525.0
_CLOCK_DRIFT = 0.0008
"""Days by which the even time of the sky runs ahead of our clocks."""
_NEW_MOON = (
    (-0.40720, 0, 1, 0), (0.17241, 1, 0, 0), (0.01608, 0, 2, 0), (0.01039, 0, 0, 2), (0.00739, -1, 1, 0),
    (-0.00514, 1, 1, 0), (0.00208, 2, 0, 0), (-0.00111, 0, 1, -2), (-0.00057, 0, 1, 2), (0.00056, 1, 2, 0),
)  # fmt: skip
_LONGITUDE = (
    (6.288774, 0, 0, 1, 0), (1.274027, 2, 0, -1, 0), (0.658314, 2, 0, 0, 0), (0.213618, 0, 0, 2, 0),
    (-0.185116, 0, 1, 0, 0), (-0.114332, 0, 0, 0, 2), (0.058793, 2, 0, -2, 0), (0.057066, 2, -1, -1, 0),
    (0.053322, 2, 0, 1, 0), (0.045758, 2, -1, 0, 0), (-0.040923, 0, 1, -1, 0), (-0.034720, 1, 0, 0, 0),
    (-0.030383, 0, 1, 1, 0), (0.015327, 2, 0, 0, -2), (-0.012528, 0, 0, 1, 2), (0.010980, 0, 0, 1, -2),
    (0.010675, 4, 0, -1, 0), (0.010034, 0, 0, 3, 0), (0.008548, 4, 0, -2, 0), (-0.007888, 2, 1, -1, 0),
    (-0.006766, 2, 1, 0, 0), (-0.005163, 1, 0, -1, 0), (0.004987, 1, 1, 0, 0), (0.004036, 2, -1, 1, 0),
    (0.003994, 2, 0, 2, 0), (0.003861, 4, 0, 0, 0), (0.003665, 2, 0, -3, 0),
)  # fmt: skip
_LATITUDE = (
    (5.128122, 0, 0, 0, 1), (0.280602, 0, 0, 1, 1), (0.277693, 0, 0, 1, -1), (0.173237, 2, 0, 0, -1),
    (0.055413, 2, 0, -1, 1), (0.046271, 2, 0, -1, -1), (0.032573, 2, 0, 0, 1), (0.017198, 0, 0, 2, 1),
    (0.009266, 2, 0, 1, -1), (0.008822, 0, 0, 2, -1), (0.008216, 2, -1, 0, -1), (0.004324, 2, 0, -2, -1),
)  # fmt: skip
_TILT = 23.439


def julian_day(day: date, hour: float = 0.0) -> float:
    """The moment of an hour of a day, by the clocks of Greenwich."""
    return _UNIX_DAY + (day - _EPOCH).days + hour / 24


def day_at(moment: float, hours_east: float = 0.0) -> date:
    """The day of a moment, by the clocks of a place so many hours east of Greenwich."""
    return _EPOCH + timedelta(days=floor(moment - _UNIX_DAY + hours_east / 24))


def new_moon(number: int) -> float:
    """The moment of a new moon, counted from that of 6 January 2000."""
    sun = 2.5534 + 29.10535670 * number
    moon = 201.5643 + 385.81693528 * number
    node = 160.7108 + 390.67050284 * number
    at = _FIRST + MONTH * number + 0.00015437 * (number / 1236.85) ** 2
    at += sum(size * sin(radians(a * sun + b * moon + c * node)) for size, a, b, c in _NEW_MOON)
    return at - _CLOCK_DRIFT


def sun_longitude(moment: float) -> float:
    """How far the sun has gone from the point where spring begins, in degrees."""
    century = (moment + _CLOCK_DRIFT - _AGE_OF_2000) / _CENTURY
    anomaly = radians(357.52911 + 35999.05029 * century)
    centre = (1.914602 - 0.004817 * century) * sin(anomaly) + 0.019993 * sin(2 * anomaly) + 0.00029 * sin(3 * anomaly)
    return (280.46646 + 36000.76983 * century + centre - 0.00569) % 360


def moon_longitude(moment: float) -> float:
    """The same of the moon."""
    return _moon(moment)[0]


def _moon(moment: float) -> tuple[float, float]:
    century = (moment + _CLOCK_DRIFT - _AGE_OF_2000) / _CENTURY
    mean = 218.3164477 + 481267.88123421 * century
    away = 297.8501921 + 445267.1114034 * century
    sun = 357.5291092 + 35999.0502909 * century
    moon = 134.9633964 + 477198.8675055 * century
    node = 93.2720950 + 483202.0175233 * century
    longitude, latitude = (
        sum(size * sin(radians(d * away + m * sun + a * moon + f * node)) for size, d, m, a, f in terms)
        for terms in (_LONGITUDE, _LATITUDE)
    )
    return (mean + longitude) % 360, latitude


def elongation(moment: float) -> float:
    """How far the moon is ahead of the sun, in degrees: 0 at new moon, 180 at full moon."""
    return (moon_longitude(moment) - sun_longitude(moment)) % 360


def sunset(day: date, latitude: float, longitude: float) -> float:
    """The moment of sunset at a place, good to a minute or two where the sun sets every day."""
    moment = julian_day(day, 18 - longitude / 15)
    for _ in range(3):
        moment += _hours_to_sunset(moment, latitude, longitude) / 24
    return moment


def _hours_to_sunset(moment: float, latitude: float, longitude: float) -> float:
    ahead, declination = _hour_angle(moment, sun_longitude(moment), 0.0, longitude)
    place = radians(latitude)
    sinks = (sin(radians(-0.833)) - sin(place) * sin(declination)) / (cos(place) * cos(declination))
    setting = 90 - degrees(asin(max(-1.0, min(1.0, sinks))))
    return ((setting - ahead + 180) % 360 - 180) / 15


def moon_is_up(moment: float, latitude: float, longitude: float) -> bool:
    """Whether the moon's edge still stands above the horizon of a place."""
    moon, north = _moon(moment)
    ahead, declination = _hour_angle(moment, moon, north, longitude)
    place = radians(latitude)
    height = asin(sin(place) * sin(declination) + cos(place) * cos(declination) * cos(radians(ahead)))
    return degrees(height) > 0.125  # noqa: PLR2004 - its edge, refracted, on the horizon


def _hour_angle(moment: float, longitude: float, north: float, place: float) -> tuple[float, float]:
    """How many degrees a body is past the south of a place (-180 to 180), and its declination in radians."""
    along, up, tilt = radians(longitude), radians(north), radians(_TILT)
    ascension = atan2(sin(along) * cos(tilt) - sin(up) / cos(up) * sin(tilt), cos(along))
    declination = asin(sin(up) * cos(tilt) + cos(up) * sin(tilt) * sin(along))
    sidereal = 280.46061837 + 360.98564736629 * (moment - _AGE_OF_2000) + place
    return (sidereal - degrees(ascension) + 180) % 360 - 180, declination
