"""Feasts by name, and the day of each in a year: fixed, by a weekday, by Easter, by the moon."""

from calendar import isleap
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache, partial

from tidemill.reading.moments.calendar import nth_weekday
from tidemill.reading.moments.feast_tables import (
    BY_MOON,
    BY_WEEKDAY,
    CHINESE,
    DAYS_AFTER,
    EASTER,
    FIXED,
    HEBREW,
    INDIAN,
    ISLAMIC,
    ORTHODOX,
)
from tidemill.reading.moments.moons import chinese, hebrew, indian, islamic_days, new_moon_from, under_mansion
from tidemill.reading.moments.world_days import observed_days

_OBSERVED = observed_days()


def _on_a_workday(day: date) -> date:
    """The day, or the workday nearest to it."""
    return day + timedelta(days={5: -1, 6: 1}.get(day.weekday(), 0))


def _sankranti(year: int) -> date:
    """The day on which the sun enters Capricorn by the Indian reckoning: it drifts within the cycle of leap years."""
    return date(year, 1, 15 if year % 4 in {0, 3} else 14)


def _advent(year: int, nth: int) -> date:
    """A Sunday of Advent, the fourth of which is the last before Christmas."""
    christmas = date(year, 12, 25)
    return christmas - timedelta(days=(christmas.weekday() + 1) % 7 or 7) - timedelta(days=7 * (4 - nth))


def _earth_hour(year: int) -> date:
    """The last Saturday of March, or the one before where that lies in Easter's weekend."""
    last = date(year, 3, 31) - timedelta(days=(date(year, 3, 31).weekday() - 5) % 7)
    return last - timedelta(days=7 if easter(year) - last == timedelta(days=1) else 0)


_SHIFTING: Mapping[str, Callable[[int], date]] = {
    "boss": lambda year: _on_a_workday(date(year, 10, 16)),
    "bogi": lambda year: _sankranti(year) - timedelta(days=1),
    "pongal": _sankranti,
    "maattu": lambda year: _sankranti(year) + timedelta(days=1),
    **{f"advent {nth}": partial(_advent, nth=nth) for nth in range(1, 5)},
    "earth hour": _earth_hour,
    "clear and bright": lambda year: date(year, 4, 4 if year % 4 in {0, 1} else 5),
    "victoria": lambda year: date(year, 5, 24) - timedelta(days=date(year, 5, 24).weekday()),
    "parsi": lambda year: date(2022, 8, 16) + timedelta(days=365 * (year - 2022)),
}
_SHIFTING_NAMES = {
    "advent 1": "first sunday of advent,first sunday in advent,advent sunday,eerste advent,eerste zondag van de advent",
    "advent 2": "second sunday of advent,tweede advent",
    "advent 3": "third sunday of advent,derde advent",
    "advent 4": "fourth sunday of advent,vierde advent",
    "clear and bright": "qingming,qingming festival,tomb sweeping day,tomb-sweeping day",
    "victoria": "victoria day",
    "boss": "boss's day,boss day,bosses day",
    "bogi": "bogi pandigai,bhogi",
    "pongal": "pongal,thai pongal,makar sankranti,maghi",
    "maattu": "maattu pongal,mattu pongal",
    "parsi": "parsi new year,jamshedi navroz",
}
_KINGS_DAY = "koningsdag,king's day,kings day"
_ONAM = "onam,thiru onam,thiruvonam,thiru-onam"
_SHRAVANA = 22
_LEAP_DAY = (2, 29)
_LONGEST_AGO = 1583


def _names() -> dict[str, str]:
    tables: tuple[Mapping[str, tuple[object, ...]], ...] = (
        _OBSERVED, FIXED, BY_WEEKDAY, EASTER, ORTHODOX, HEBREW, ISLAMIC, BY_MOON, INDIAN, CHINESE, DAYS_AFTER,
    )  # fmt: skip
    found = dict.fromkeys(_KINGS_DAY.split(","), "koningsdag") | dict.fromkeys(_ONAM.split(","), "onam")
    for feast, names in _SHIFTING_NAMES.items():
        found |= dict.fromkeys(names.split(","), feast)
    for table in tables:
        for feast, row in table.items():
            found |= dict.fromkeys(str(row[-1]).split(","), feast)
    return found


FEAST_NAMES: Mapping[str, str] = _names()
"""Every name of a feast, and the one that `feast_in` knows it by."""


@lru_cache(maxsize=1_024)
def feast_in(feast: str, year: int) -> tuple[date, int] | None:
    """The first day of a feast in a year and how many days it lasts; None where it has none, or we know none."""
    if not _LONGEST_AGO <= year <= 2199:  # noqa: PLR2004 - years that a page may speak of
        return None
    if feast == "koningsdag":
        kings_day = date(year, 4, 27)
        return kings_day - timedelta(days=kings_day.weekday() == 6), 1  # noqa: PLR2004 - never a Sunday
    if feast in _SHIFTING:
        return _SHIFTING[feast](year), 1
    if feast in FIXED or feast in _OBSERVED:
        month, number, _ = FIXED.get(feast) or _OBSERVED[feast]
        return (date(year, month, number), 1) if (month, number) != _LEAP_DAY or isleap(year) else None
    if feast in BY_WEEKDAY:
        month, nth, weekday, later, _ = BY_WEEKDAY[feast]
        found = nth_weekday(nth, weekday, year, month)
        return (found + timedelta(days=later), 1) if found else None
    return _moving(feast, year)


def _moving(feast: str, year: int) -> tuple[date, int] | None:
    if feast in EASTER:
        offset, length, _ = EASTER[feast]
        return easter(year) + timedelta(days=offset), length
    if feast in ORTHODOX:
        offset, length, _ = ORTHODOX[feast]
        return orthodox_easter(year) + timedelta(days=offset), length
    if feast in HEBREW:
        month, number, before, length, _ = HEBREW[feast]
        return _hebrew_in(year, month, number) + timedelta(days=before), length
    if feast in ISLAMIC:
        month, number, length, _ = ISLAMIC[feast]
        days = islamic_days(year, month, number)
        return (days[0], length) if days else None
    return _by_another_moon(feast, year)


def _by_another_moon(feast: str, year: int) -> tuple[date, int] | None:
    if feast in DAYS_AFTER:
        base, later, _ = DAYS_AFTER[feast]
        found, length = feast_in(base, year), 1
        day = found[0] + timedelta(days=later) if found else None
    elif feast in INDIAN:
        month, tithi, hour, length, _ = INDIAN[feast]
        day = indian(year, month, tithi, hour)
    elif feast in CHINESE:
        month, number, length, _ = CHINESE[feast]
        day = chinese(year, month, number)
    elif feast == "onam":
        day, length = under_mansion(date(year, 8, 17), date(year, 9, 16), _SHRAVANA), 1
    else:
        month, number, east, later, length, _ = BY_MOON[feast]
        day = new_moon_from(date(year, month, number), east) + timedelta(days=later)
    return (day, length) if day else None


def _hebrew_in(year: int, month: int, number: int) -> date:
    """The day of a common year; Purim is in the last month before Nisan, whichever that is."""
    if month == 13:  # noqa: PLR2004
        return hebrew(year + 3760, 1, 1) - timedelta(days=30 - number)
    autumn = 7 <= month <= 10  # noqa: PLR2004
    found = hebrew(year + (3761 if autumn else 3760), month, number)
    return found if found.year == year else hebrew(year + 3760, month, number)


def easter(year: int) -> date:
    """Easter Sunday of the western churches (the anonymous Gregorian rule)."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, number = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, number + 1)


def orthodox_easter(year: int) -> date:
    """Easter Sunday of the eastern churches (the Julian rule, in our calendar)."""
    moon = (19 * (year % 19) + 15) % 30
    weekday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7
    month, number = divmod(moon + weekday + 114, 31)
    return date(year, month, number + 1) + timedelta(days=13)
