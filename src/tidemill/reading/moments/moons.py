"""New moons, and the two calendars that count by them; all by arithmetic, good to a day.

The moon is reckoned as in Meeus, Astronomical Algorithms, chapter 49, with its largest terms only.
"""

from datetime import date, timedelta
from math import radians, sin

_MONTH = 29.530588861
_FIRST = 2451550.09766
_UNIX_DAY = 2440587.5
_EPOCH = date(1970, 1, 1)
_TERMS = (
    (-0.40720, 0, 1, 0), (0.17241, 1, 0, 0), (0.01608, 0, 2, 0), (0.01039, 0, 0, 2), (0.00739, -1, 1, 0),
    (-0.00514, 1, 1, 0), (0.00208, 2, 0, 0), (-0.00111, 0, 1, -2), (-0.00057, 0, 1, 2), (0.00056, 1, 2, 0),
)  # fmt: skip
_ISLAMIC_FIRST = -17_037
"""The number of the new moon (counted from January 2000) that began the first month of the Islamic calendar."""
_HEBREW_EPOCH = 347_995.5


def new_moon(number: int, hours_east: float = 0.0) -> date:
    """The day of a new moon, counted from that of 6 January 2000, by the clocks of a place."""
    century = number / 1236.85
    sun = 2.5534 + 29.10535670 * number
    moon = 201.5643 + 385.81693528 * number
    node = 160.7108 + 390.67050284 * number
    at = _FIRST + _MONTH * number + 0.00015437 * century**2
    at += sum(size * sin(radians(a * sun + b * moon + c * node)) for size, a, b, c in _TERMS)
    return _EPOCH + timedelta(days=int(at - _UNIX_DAY + hours_east / 24 - 0.0008))


def new_moon_from(day: date, hours_east: float = 0.0) -> date:
    """The first new moon on a day or after it."""
    number = int((day - date(2000, 1, 6)).days / _MONTH) - 1
    while (found := new_moon(number, hours_east)) < day:
        number += 1
    return found


def islamic(year: int, month: int, number: int) -> date:
    """A day of the Islamic calendar: months begin on the second evening after the new moon."""
    moons = _ISLAMIC_FIRST + (year - 1) * 12 + month - 1
    return new_moon(moons, 3) + timedelta(days=number)


def islamic_days(year: int, month: int, number: int) -> list[date]:
    """The days of a common year on which a day of the Islamic calendar falls: one, or two."""
    about = int((year - 622) * 33 / 32)
    found = (islamic(one, month, number) for one in range(about - 1, about + 4))
    return [day for day in found if day.year == year]


def hebrew(year: int, month: int, number: int) -> date:
    """A day of the Hebrew calendar, whose months count from Nisan (1); Tishri (7) begins the year."""
    start = _hebrew_new_year(year)
    length = _hebrew_new_year(year + 1) - start
    leap = (7 * year + 1) % 19 < 7  # noqa: PLR2004 - seven of nineteen years have a thirteenth month
    months = [30, 30 if length % 10 == 5 else 29, 29 if length % 10 == 3 else 30, 29, 30]  # noqa: PLR2004
    months += [30, 29] if leap else [29]
    months += [30, 29, 30, 29, 30, 29]
    index = month - 7 if month >= 7 else month - 7 + len(months)  # noqa: PLR2004
    return _EPOCH + timedelta(days=int(start + sum(months[:index]) + number - _UNIX_DAY + 0.5))


def _hebrew_new_year(year: int) -> int:
    """The Julian day, rounded, of the first of Tishri."""
    last, following = _delayed(year - 1), _delayed(year + 1)
    here = _delayed(year)
    if following - here == 356:  # noqa: PLR2004 - no year is so long
        here += 2
    elif here - last == 382:  # noqa: PLR2004 - nor so short
        here += 1
    return int(_HEBREW_EPOCH + here + 0.5)


def _delayed(year: int) -> int:
    months = (235 * year - 234) // 19
    parts = 12_084 + 13_753 * months
    days = months * 29 + parts // 25_920
    return days + 1 if 3 * (days + 1) % 7 < 3 else days  # noqa: PLR2004
