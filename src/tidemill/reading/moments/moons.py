"""The calendars that count by the moon: the Islamic one of Umm al-Qura, the Hebrew, the Indian and the Chinese."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from tidemill.reading.moments import sky

_ISLAMIC_FIRST = -17_037
"""The number of the new moon (counted from January 2000) that began the first month of the Islamic calendar."""
_MECCA = (21.42, 39.83)
_SEEN_SINCE = date(1999, 4, 1)
"""Since then a month begins in Mecca on the evening on which the new moon sets after the sun."""
_HEBREW_EPOCH = 347_995.5
_EPOCH, _UNIX_DAY = date(1970, 1, 1), 2440587.5
_INDIA, _CHINA = 5.5, 8.0
_SIGN, _TITHI, _MANSION = 30, 12, 360 / 27
_STARS_OF_2000, _STARS_A_YEAR = 23.853, 0.01397
"""How far the Indian zodiac, which goes by the stars, lies behind the seasons: in 2000, and more every year."""
_MONTHS = 12
_LAST_SIGN = 11
_SUNRISE = 6.0
_A_WHOLE_MOON = 30


def new_moon_from(day: date, hours_east: float = 0.0) -> date:
    """The first new moon on a day or after it, by the clocks of a place."""
    number = _number_near(day)
    while (found := sky.day_at(sky.new_moon(number), hours_east)) < day:
        number += 1
    return found


def _number_near(day: date) -> int:
    return int((day - date(2000, 1, 6)).days // sky.MONTH) - 1


def islamic(year: int, month: int, number: int) -> date:
    """A day of the Islamic calendar, as Umm al-Qura has it; its evening begins it the day before."""
    return _islamic_month(_ISLAMIC_FIRST + (year - 1) * _MONTHS + month - 1) + timedelta(days=number - 1)


def _islamic_month(number: int) -> date:
    moment = sky.new_moon(number)
    day = sky.day_at(moment)
    if day < _SEEN_SINCE:
        return day + timedelta(days=1)
    day = sky.day_at(moment, 3)
    sunset = sky.sunset(day, *_MECCA)
    seen = moment < sunset and sky.moon_is_up(sunset, *_MECCA)
    return day + timedelta(days=1 if seen else 2)


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


def indian(year: int, month: int, tithi: int, hour: float = _SUNRISE) -> date | None:
    """The day of a year on which a lunar day (1 to 30 from new moon) reigns at an hour in India.

    Months end at new moon and count from Chaitra (1); one that comes twice counts the second time. A lunar day that
    reigns at that hour on no day is held on the day in which it passes.
    """
    found = (_indian_day(number, tithi, hour) for number, named in _indian_months(year) if named == month)
    return next((day for day in found if day.year == year), None)


def _indian_day(number: int, tithi: int, hour: float) -> date:
    guess = sky.day_at(sky.new_moon(number) + (tithi - 1.0) / _A_WHOLE_MOON * sky.MONTH, _INDIA) - timedelta(days=2)
    for day in (guess + timedelta(days=ahead) for ahead in range(6)):
        past = _past(tithi, day, hour)
        if past >= 1:  # it came and went since this hour of the day before
            midnight_past = _past(tithi, day, 0)
            return day if midnight_past < 0.5 else day - timedelta(days=1)  # noqa: PLR2004 - where its middle lies
        if past >= 0:
            return day
    return guess


def _past(tithi: int, day: date, hour: float) -> float:
    """How much of a lunar day is past at an hour of a day in India: 0 when it begins, 1 when it ends."""
    reigns = sky.elongation(sky.julian_day(day, hour - _INDIA)) / _TITHI + 1
    return (reigns - tithi + _A_WHOLE_MOON / 2) % _A_WHOLE_MOON - _A_WHOLE_MOON / 2


def _indian_months(year: int) -> Iterator[tuple[int, int]]:
    """The new moons of a year and the months that they begin, named by the sign in which the sun stands then."""
    begins = _number_near(date(year, 1, 1))
    signs = [_sign(sky.new_moon(number), _behind(year)) for number in range(begins, begins + _MONTHS + 4)]
    for place, (sign, following) in enumerate(pairwise(signs)):
        if sign != following:
            yield begins + place, (sign - _LAST_SIGN) % _MONTHS + 1


def chinese(year: int, month: int, number: int) -> date | None:
    """A day of the Chinese year that begins in a common year; of a month that comes twice, the first time."""
    named = _chinese_months(year)
    return next((begins + timedelta(days=number - 1) for begins, name in named if name == month), None)


def _chinese_months(year: int) -> Iterator[tuple[date, int]]:
    """The first days of months that begin in a year, each named by the sign that the sun enters in it."""
    first = _number_near(date(year, 1, 1))
    days = [sky.day_at(sky.new_moon(number), _CHINA) for number in range(first, first + _MONTHS + 5)]
    signs = [_sign(sky.julian_day(day, -_CHINA), 0.0) for day in days]
    for begins, sign, following in zip(days, signs, signs[1:], strict=False):
        if begins.year == year and sign != following:
            yield begins, (following - _LAST_SIGN) % _MONTHS + 1


def _sign(moment: float, behind: float) -> int:
    return int((sky.sun_longitude(moment) - behind) % 360 // _SIGN)


def _behind(year: int) -> float:
    return _STARS_OF_2000 + _STARS_A_YEAR * (year - 2000)


def under_mansion(begins: date, ends: date, mansion: int) -> date | None:
    """The last day in a solar month that the moon begins in a mansion (1 to 27)."""
    for day in (ends - timedelta(days=back) for back in range((ends - begins).days + 1)):
        moon = sky.moon_longitude(sky.julian_day(day, _SUNRISE - _INDIA)) - _behind(day.year)
        if int(moon % 360 / _MANSION) + 1 == mansion:
            return day
    return None
