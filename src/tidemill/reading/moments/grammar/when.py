"""What a phrase says of a time, as constraints that are gathered, and the stretch of time that they mean."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

import msgspec

from tidemill.reading.moments.calendar import day, months_later, next_weekday, without_year
from tidemill.reading.moments.feasts import feast_in

_NOON, _HOURS, _MINUTES, _EVENING_HOURS = 12, 24, 60, 9
_EVENING = 18
SMALL_HOURS = (0, 6)
"""The hours of a night behind midnight."""
_FAR = 48
"""Months ahead that are searched for a day that fits a weekday and a number."""


class DayTime(msgspec.Struct, frozen=True, gc=False):
    """A time of the day; `open` says that morning and evening are both possible, `said` that it is told in words."""

    hour: int
    minute: int
    open: bool = False
    said: bool = False

    @classmethod
    def of(cls, hour: int, minute: int, meridiem: str = "") -> "DayTime | None":
        """The clock that so many hours and minutes are, in the half of the day that `a` or `p` says."""
        if minute >= _MINUTES or hour > _HOURS or (meridiem and not 1 <= hour <= _NOON):
            return None
        if meridiem:
            hour = hour % _NOON + (_NOON if meridiem == "p" else 0)
        return cls(hour % _HOURS, minute)


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """From a moment to the one at which it is over, and how finely it is told: `m`, `h`, `d`, `w`, `M`, `q`, `y`."""

    start: datetime
    end: datetime
    grain: str = "d"


class TimeConstraints(msgspec.Struct, frozen=True, kw_only=True):
    """Constraints on a time. `within` is a stretch that it lies in, `fine` one that it is by itself."""

    year: int | None = None
    month: int | None = None
    dom: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    season: int | None = None
    feast: str | None = None
    within: Stretch | None = None
    clock: DayTime | None = None
    until: DayTime | None = None
    hours: tuple[int, int] | None = None
    offset: float | None = None
    turn: int = 0
    shift: tuple[str, int] | None = None


_FIELDS = tuple(name for name in TimeConstraints.__struct_fields__ if name != "turn")


def merged(one: TimeConstraints, other: TimeConstraints) -> TimeConstraints | None:
    """Both constraints at once; None when they speak of the same thing, or can not both hold."""
    values = {}
    for name in _FIELDS:
        left, right = getattr(one, name), getattr(other, name)
        if left is not None and right is not None and left != right:
            return None
        values[name] = left if left is not None else right
    return TimeConstraints(**values, turn=one.turn or other.turn)


def is_date(when: TimeConstraints) -> bool:
    """Whether the constraints are on the day, not only on the hour."""
    return any(
        getattr(when, name) is not None
        for name in ("year", "month", "dom", "weekday", "quarter", "season", "feast", "within")
    )


def unit_stretch(now: datetime, unit: str, steps: int, count: int = 1) -> Stretch:
    """The whole day, week, month ... that lies `steps` from this one; `count` of them."""
    start = floor(now, unit)
    begins = moved(start, unit, steps)
    return Stretch(begins, moved(begins, unit, count), unit)


def floor(moment: datetime, unit: str) -> datetime:
    """The beginning of the unit that a moment lies in."""
    if unit in "smh":
        return moment.replace(minute=moment.minute if unit in "sm" else 0, second=0, microsecond=0)
    midnight = datetime.combine(moment.date(), time())
    if unit in "wef":
        return midnight - timedelta(days=midnight.weekday())
    if unit in "Mqyt":
        month = {"M": midnight.month, "q": (midnight.month - 1) // 3 * 3 + 1}.get(unit, 1)
        year = midnight.year // 10 * 10 if unit == "t" else midnight.year
        return midnight.replace(year=year, month=month, day=1)
    return midnight


def moved(moment: datetime, unit: str, count: float) -> datetime:
    """A moment so many units later, or earlier."""
    months = {"M": 1, "q": 3, "y": 12, "t": 120}.get(unit)
    if months is not None:
        return datetime.combine(months_later(moment.date(), int(months * count)), moment.time())
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "e": 604_800, "f": 1_209_600}[unit]
    return moment + timedelta(seconds=seconds * count)


def decade_of(year: int) -> Stretch:
    """The ten years that begin with a year."""
    return Stretch(datetime(year, 1, 1), datetime(year + 10, 1, 1), "t")  # noqa: DTZ001 - wall-clock times


def resolved(when: TimeConstraints, now: datetime) -> Stretch | None:
    """The stretch of time that constraints mean, as of now; None where there is none."""
    if not is_date(when):
        return _clock_alone(when, now)
    found = _date_of(when, now)
    if found is None:
        return None
    if when.shift is not None and when.feast is None:
        found = shifted(found, when.shift)
    return _still_to_come(_timed(found, when), when, now)


def _still_to_come(found: Stretch | None, when: TimeConstraints, now: datetime) -> Stretch | None:
    """The evening's hour where `today at 5` leaves it open and the morning's has passed."""
    clock = when.clock
    if found is None or clock is None or not clock.open or when.hours is not None or when.until is not None:
        return found
    here = now.replace(tzinfo=None)
    if found.grain != "m" or found.start.date() != here.date() or found.start >= here:
        return found
    later = shifted(found, ("h", _NOON))
    return later if later.start >= here and later.start.date() == here.date() else found


def shifted(found: Stretch, shift: tuple[str, int]) -> Stretch:
    """A stretch so many units later or earlier."""
    unit, count = shift
    return Stretch(moved(found.start, unit, count), moved(found.end, unit, count), found.grain)


def _clock_alone(when: TimeConstraints, now: datetime) -> Stretch | None:
    """A time without a day: the next one of that name."""
    today = Stretch(floor(now, "d"), floor(now, "d") + timedelta(days=1))
    if when.clock is None:
        return _timed(today, when)
    here = _timed(today, when)
    if (
        here is None
        or when.until is not None
        or here.start >= now.replace(tzinfo=None) - timedelta(minutes=now.minute, seconds=now.second)
    ):
        return here
    if when.clock.open and when.hours is None and when.clock.hour < _NOON:
        later = _timed(today, msgspec.structs.replace(when, clock=DayTime(when.clock.hour + _NOON, when.clock.minute)))
        if later is not None and later.start >= now:
            return later
    return shifted(here, ("d", 1))


def _timed(found: Stretch, when: TimeConstraints) -> Stretch | None:
    if when.clock is None:
        if when.hours is None or found.grain != "d":
            return found if when.hours is None else None
        first, last = when.hours
        return Stretch(found.start + timedelta(hours=first), found.start + timedelta(hours=last), "p")
    if found.grain == "D" and when.until is None:  # days that share one time
        hour = timedelta(hours=_hour_of(when.clock, when.hours), minutes=when.clock.minute)
        return Stretch(found.start + hour, found.end, "X")
    if found.grain != "d":
        return None
    start = found.start + timedelta(hours=_hour_of(when.clock, when.hours), minutes=when.clock.minute)
    if when.until is None:
        return Stretch(start, start + timedelta(minutes=1), "m")
    end = found.start + timedelta(hours=_hour_of(when.until, when.hours), minutes=when.until.minute)
    return Stretch(start, end if end > start else end + timedelta(days=1), "H")


def _hour_of(clock: DayTime, hours: tuple[int, int] | None) -> int:
    """The hour, moved to the half of the day that a part of it names."""
    said_late = clock.said and clock.hour < _EVENING_HOURS  # nobody opens at half past three at night
    if hours is not None and (hours[0] >= _EVENING or hours == SMALL_HOURS) and clock.hour in {0, _NOON}:
        return _HOURS  # midnight is the end of an evening
    if hours == SMALL_HOURS:  # `4 uur 's nachts`, `11 uur 's nachts`
        return clock.hour + _NOON if SMALL_HOURS[1] < clock.hour < _NOON else clock.hour
    late = said_late if hours is None else hours[0] >= _NOON and clock.hour < _NOON
    return clock.hour + _NOON if late else clock.hour


def _date_of(when: TimeConstraints, now: datetime) -> Stretch | None:
    if when.feast is not None:
        return _feast(when, now)
    if when.season is not None:
        return _season(when, now)
    if when.quarter is not None:
        year = when.year or now.year
        begins = datetime(year, when.quarter * 3 - 2, 1)  # noqa: DTZ001 - wall-clock times until the zone is known
        return Stretch(begins, moved(begins, "q", 1), "q")
    if when.within is not None:
        return _inside(when)
    if when.dom is not None or when.weekday is not None:
        found = _day_of(when, now.date())
        return _whole(found) if found else None
    year = when.year or _year_of(when.month or 1, now.date())
    begins = datetime(year, when.month or 1, 1)  # noqa: DTZ001
    return Stretch(begins, moved(begins, "M" if when.month else "y", 1), "M" if when.month else "y")


def _whole(found: date) -> Stretch:
    begins = datetime.combine(found, time())
    return Stretch(begins, begins + timedelta(days=1))


def _year_of(month: int, today: date) -> int:
    first = without_year(month, 1, None, today)
    return today.year if month == today.month or first is None else first.year


def _day_of(when: TimeConstraints, today: date) -> date | None:
    if when.month is not None and when.dom is not None:
        if when.year is not None:
            return day(when.year, when.month, when.dom)
        return without_year(when.month, when.dom, when.weekday, today)
    if when.dom is None and when.weekday is not None and when.month is None and when.year is None:
        return _turned_weekday(when.weekday, when.turn, today)
    start = (
        today
        if when.year is None
        else max(today, date(when.year, 1, 1))
        if when.year >= today.year
        else date(when.year, 1, 1)
    )
    return _first_fitting(when, start)


def _turned_weekday(weekday: int, turn: int, today: date) -> date:
    if turn < 0:
        return next_weekday(weekday, today) - timedelta(days=7)
    return next_weekday(weekday, today, strictly=turn > 1)


def _first_fitting(when: TimeConstraints, start: date) -> date | None:
    """The first day from `start` on that all constraints fit."""
    month = start.replace(day=1)
    for _ in range(_FAR):
        numbers = (when.dom,) if when.dom is not None else range(1, 32)
        if (when.month in {None, month.month}) and (when.year in {None, month.year}):
            for number in numbers:
                found = day(month.year, month.month, number)
                if found and found >= start and when.weekday in {None, found.weekday()}:
                    return found
        month = months_later(month, 1)
    return None


def _inside(when: TimeConstraints) -> Stretch | None:
    """The first day of a stretch that fits the other constraints; the stretch itself without any."""
    within = when.within
    if within is None or (when.dom is None and when.weekday is None and when.month is None and when.year is None):
        return within
    found = within.start
    while found < within.end:
        fits = when.weekday in {None, found.weekday()} and when.dom in {None, found.day}
        if fits and when.month in {None, found.month} and when.year in {None, found.year}:
            return _whole(found.date())
        found += timedelta(days=1)
    return None


def _season(when: TimeConstraints, now: datetime) -> Stretch:
    starts = ((12, 21), (3, 20), (6, 21), (9, 23))
    season = when.season or 0
    (month, number), (ends, last) = starts[season], starts[(season + 1) % 4]
    years = [when.year] if when.year else range(now.year - 2, now.year + 2)
    spans = [
        Stretch(datetime(year, month, number), datetime(year + (season == 0), ends, last), "q")  # noqa: DTZ001
        for year in years
    ]
    if when.turn < 0:
        return [span for span in spans if span.end <= now][-1]
    coming = [span for span in spans if (span.start > now if when.turn > 1 else span.end > now)]
    return coming[0] if coming else spans[-1]


def _feast(when: TimeConstraints, now: datetime) -> Stretch | None:
    """The feast of the year that is named, of the stretch that it lies in, else the coming one (or the last)."""
    name = when.feast or ""
    if when.year is not None:
        found = _feasts(name, (when.year,))
        return found[0] if found else None
    if when.within is not None:
        near = when.within.start.year
        middle = when.within.start + (when.within.end - when.within.start) / 2
        return min(_feasts(name, (near - 1, near, near + 1)), key=lambda one: abs(one.start - middle), default=None)
    found = _feasts(name, range(now.year - 2, now.year + 3))
    if when.shift is not None:
        found = [shifted(one, when.shift) for one in found]
    today = floor(now, "d")
    if when.turn < 0:
        return next((one for one in reversed(found) if one.end <= today), None)
    return next((one for one in found if one.end > today), None)


def _feasts(name: str, years: Iterable[int]) -> list[Stretch]:
    found = [feast for year in years if (feast := feast_in(name, year)) is not None]
    return [_days(first, length) for first, length in found]


def _days(first: date, length: int) -> Stretch:
    begins = datetime.combine(first, time())
    return Stretch(begins, begins + timedelta(days=length))
