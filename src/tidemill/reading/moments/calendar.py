"""Days on the calendar: those that exist, those that a missing year means, those that a weekday means."""

from calendar import monthrange
from datetime import date, timedelta

PAST_WINDOW = timedelta(days=120)
"""How long a date without a year is taken to be past rather than next year's."""
_EARLY = 5
"""From the month after this one, no date of last year lies within the window."""
_PIVOT = 70
_EARLIEST, _LATEST = 1900, 2199


def day(year: int, month: int, number: int) -> date | None:
    """The day, if there is such a one, in years that a page may speak of."""
    if not _EARLIEST <= year <= _LATEST:
        return None
    try:
        return date(year, month, number)
    except ValueError:
        return None


def full_year(written: str) -> int:
    """The year that two or four digits mean: '82 is 1982, '26 is 2026."""
    digits = written.strip(" '")
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - the century is written
        return year
    return year + (1900 if year >= _PIVOT else 2000)


def without_year(month: int, number: int, weekday: int | None, today: date) -> date | None:
    """The day that a date without a year means: the coming one, or one not long past.

    A weekday that the page names with it is evidence: of last, this and next year, the one that fits.
    """
    here = day(today.year, month, number)
    if here is not None and today.month > _EARLY and here >= today and weekday in {None, here.weekday()}:
        return here  # the commonest case: still to come, and in the last year's no rival within the window
    years = (today.year - 1, today.year, today.year + 1, today.year + 2)
    days = [found for year in years if (found := day(year, month, number)) is not None]
    days += [found for found in (day(today.year + step, month, number) for step in (3, 4, 7, 8)) if found and not days]
    usual = next((found for found in days if found >= today - PAST_WINDOW), None)
    if weekday is None or (usual is not None and usual.weekday() == weekday):
        return usual
    fitting = [found for found in days if found.weekday() == weekday and found <= today + timedelta(days=366)]
    return min(fitting, key=lambda found: abs(found - today)) if fitting else usual


def next_weekday(weekday: int, today: date, *, strictly: bool = False) -> date:
    """The first such weekday from today on; after today if `strictly`."""
    ahead = (weekday - today.weekday()) % 7
    return today + timedelta(days=ahead or (7 if strictly else 0))


def last_weekday(weekday: int, today: date) -> date:
    """The last such weekday before today."""
    return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)


def weekday_in_week(weekday: int, today: date, weeks: int) -> date:
    """That weekday in the week `weeks` from this one; weeks begin on Monday."""
    return today - timedelta(days=today.weekday()) + timedelta(days=weekday + 7 * weeks)


def nth_weekday(nth: int, weekday: int, year: int, month: int) -> date | None:
    """The first, second ... or last (-1) such weekday of a month."""
    length = monthrange(year, month)[1]
    days = [date(year, month, number) for number in range(1, length + 1)]
    fitting = [found for found in days if found.weekday() == weekday]
    index = nth - 1 if nth > 0 else nth
    return fitting[index] if index < len(fitting) else None


def months_later(start: date, months: int) -> date:
    """The same day so many months later (or earlier); the month's last if it is shorter."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
