"""Schema.org schedules ("every Tuesday at eight until June") written out as the dates they stand for."""

from datetime import date, timedelta
from typing import Any

_DAYS = {"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6}
_ICAL = {"mo": 0, "tu": 1, "we": 2, "th": 3, "fr": 4, "sa": 5, "su": 6}
_STEPS = {"P1D": 1, "DAILY": 1, "P1W": 7, "P7D": 7, "WEEKLY": 7, "P2W": 14, "P14D": 14, "P3W": 21, "P4W": 28}
_MONTHLY = frozenset({"P1M", "MONTHLY"})
_HORIZON = timedelta(days=366)
_LONGEST_SCHEDULE = 4_000
_MOST_SCHEDULES = 20


def occurrences(schedule: Any, today: str, most: int) -> list[tuple[str, str]]:
    """The (start, end) texts that a schedule, or a list of them, stands for, at most `most`.

    What is past is left out, as long as something is left; an open end is written out for a year.
    """
    schedules = schedule if isinstance(schedule, list) else [schedule]
    written_out = (one for one in schedules[:_MOST_SCHEDULES] if isinstance(one, dict))
    pairs = [pair for one in written_out for pair in _records_of_event(one, today)]
    ahead = [pair for pair in pairs if pair[0][:10] >= today]
    return (ahead or pairs[-1:])[:most]


def _records_of_event(schedule: dict[str, Any], today: str) -> list[tuple[str, str]]:
    first = _day(schedule.get("startDate"))
    if first is None:
        return []
    last = _day(schedule.get("endDate")) or max(first, _day(today) or first) + _HORIZON
    step = str(schedule.get("repeatFrequency") or "").upper()
    excluded = {str(day)[:10] for day in _listed(schedule.get("exceptDate"))}
    days = [day for day in _days(first, last, step, _weekdays(schedule)) if day.isoformat() not in excluded]
    opens, closes = str(schedule.get("startTime") or ""), str(schedule.get("endTime") or "")
    return [(_at(day, opens), _at(day, closes) if closes else "") for day in days]


def _days(first: date, last: date, step: str, weekdays: set[int]) -> list[date]:
    if step in _MONTHLY:
        return _monthly(first, last)
    every = _STEPS.get(step, 1 if weekdays else 0)
    if not every:
        return [first]
    span = min((last - first).days, _LONGEST_SCHEDULE)
    if weekdays:
        weeks = max(1, every // 7)
        candidates = (first + timedelta(days=offset) for offset in range(span + 1))
        return [day for day in candidates if day.weekday() in weekdays and _week(first, day) % weeks == 0]
    return [first + timedelta(days=offset) for offset in range(0, span + 1, every)]


def _week(first: date, day: date) -> int:
    return (day - (first - timedelta(days=first.weekday()))).days // 7


def _monthly(first: date, last: date) -> list[date]:
    found: list[date] = []
    year, month = first.year, first.month
    while (year, month) <= (last.year, last.month) and len(found) < _LONGEST_SCHEDULE:
        day = _day(f"{year:04}-{month:02}-{first.day:02}")
        if day is not None and day <= last:
            found.append(day)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)  # noqa: PLR2004 - months in a year
    return found


def _weekdays(schedule: dict[str, Any]) -> set[int]:
    found = set()
    for name in _listed(schedule.get("byDay")):
        word = str(name).rstrip("/").rpartition("/")[2].lower()
        number = _DAYS.get(word, _ICAL.get(word))
        if number is not None:
            found.add(number)
    return found


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(str(text)[:10])
    except ValueError:
        return None


def _at(day: date, time: str) -> str:
    return f"{day.isoformat()}T{time}" if time else day.isoformat()
