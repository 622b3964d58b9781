"""Dates that name a day of a month, in words or in digits, wherever they stand in a text."""

import re
from collections.abc import Iterator
from datetime import date

import msgspec

from tidemill.reading.moments.calendar import day, full_year, without_year
from tidemill.reading.moments.moment import Grain
from tidemill.reading.moments.words import FULL_MONTHS, FULL_WEEKDAY, MONTH, MONTHS, TO, WEEKDAY, WEEKDAYS, any_of


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A date that a text names between `begins` and `ends`; `last` is the end of a range, `others` further days.

    `part` is the hour that a part of the day stands for, when the mention names one; `clock` the very
    minute, for the few that do. `middle` is what stands between the two dates of a
    range. `is_full` and `is_offset` tell dates and distances from mere weekdays.
    """

    begins: int
    ends: int
    first: date
    last: date | None = None
    others: tuple[date, ...] = ()
    grain: Grain = Grain.DAY
    year_given: bool = True
    weekday: int | None = None
    month_day: tuple[int, int] | None = None
    part: int | None = None
    clock: tuple[int, int] | None = None
    middle: tuple[int, int] | None = None
    is_full: bool = False
    is_offset: bool = False


class Calendar(msgspec.Struct, frozen=True):
    """What a date is read against: today, and whether the day stands before the month in digits."""

    today: date
    day_first: bool


_ORDINAL = r"(?:\s?(?:ste|de|e|st|nd|rd|th)\b|\.(?=\s))?"
_YEAR = (
    r"(?:(?:\s*,)?\s*(?:van\s+)?(?P<{0}>(?:19|20|21)\d\d)(?!\d|:\d)|\s*(?P<{0}s>'\d\d)(?!\d)"
    r"|\s+(?P<{0}b>\d\d)(?=\s*(?:$|[,;)])))?"
)
_NO_CLOCK = (
    r"(?!\s*(?:[ap]\.?\s?m\b|uur|u\b|h\b|:\d|\.\d|%)|\d"
    r"|\s*(?:-+|to|until|till|tot)\s*\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?\s?m\b|uur\b))"
)
_AND = r"(?:\s*,\s*|\s*(?:&|\+|/|en|and|plus)\s*)"
_DAY_NAMED = rf"(?:(?P<w>{WEEKDAY})(?:\s*,)?\s*(?:de\s+|the\s+)?)?"
_DAY_UNNAMED = rf"(?:{WEEKDAY}(?:\s*,)?\s*(?:de\s+|the\s+)?)?"

_DAY_MONTH = re.compile(
    rf"(?<![\d.,:/-])(?<![^\W\d_]-)\b{_DAY_NAMED}(?P<d>\d{{1,2}}){_ORDINAL}"
    rf"(?:(?P<more>(?:{_AND}{_DAY_UNNAMED}\d{{1,2}}{_ORDINAL})+)|\s*{TO}\s*{_DAY_UNNAMED}(?P<d2>\d{{1,2}}){_ORDINAL})?"
    rf"\s*(?:of\s+|in\s+)?(?P<m>{MONTH})(?!\s+(?:be|have|not)\b){_YEAR.format('y')}"
)
_MONTH_DAY = re.compile(
    rf"\b{_DAY_NAMED}(?P<m>{MONTH})[\s-]*(?P<d>\d{{1,2}}){_NO_CLOCK}{_ORDINAL}"
    rf"(?:(?P<more>(?:{_AND}\d{{1,2}}{_NO_CLOCK}{_ORDINAL})+)|\s*{TO}\s*(?P<d2>\d{{1,2}}){_NO_CLOCK}(?![/-]\d){_ORDINAL})?"
    rf"(?:(?:\s*,)?(?:\s*|-)(?P<y>(?:19|20|21)\d\d)(?!\d|:\d)|(?=\s+\d\d?:\d\d(?::\d\d)?\s+(?P<late>(?:19|20)\d\d)\b))?(?:\s+year\b)?"
)
_YEAR_FIRST = re.compile(
    rf"(?<![\d/.-])(?P<y>(?:19|20|21)\d\d)(?P<s>[-/.\s])(?P<m>\d{{1,2}}|{MONTH})(?P=s)(?P<d>\d{{1,2}})(?!\d)(?![/.-]\d)"
)
_DIGITS = re.compile(
    rf"(?<![\d/.,:-])(?:(?P<w>{WEEKDAY})(?:\s*,)?\s*)?(?<![\d/.-])(?P<a>\d{{1,2}})"
    rf"(?:\s?(?P<dot>\.)\s?(?P<b1>\d{{1,2}})\s?\.\s?|(?P<s>[-/])(?P<b2>\d{{1,2}}|{MONTH})(?P=s))"
    r"(?P<y>\d{4}|'?\d{2}(?!\s?(?:uhr|uur|h\b|:\d)))(?!\d)(?![/.-]\d)"
)
_SHORT_DIGITS = re.compile(
    rf"(?<![\d/.,:-])(?:(?P<w>{WEEKDAY})(?:\s*,)?\s*)?(?<![\d/.-])(?P<a>\d{{1,2}})(?P<s>[/.-])(?P<b>\d{{1,2}})(?![\d/%-]|\.\d)"
)
_DIGIT_SPAN = re.compile(
    rf"(?<![\d/.,:-])(?:(?P<w>{WEEKDAY})(?:\s*,)?\s*)?(?<![\d/.-])(?P<a>\d{{1,2}})(?P<s>[-/.])\s?(?P<b>\d{{1,2}})(?P<p>\.?)"
    rf"(?P<to>\s*(?:{TO}|bis(?: zum)?|au|al)\s*){_DAY_UNNAMED}(?P<a2>\d{{1,2}})(?P=s)\s?(?P<b2>\d{{1,2}})"
    r"(?:(?P=s)\s?(?P<y>\d{4}|\d{2}(?!\s?(?:uhr|uur|h\b|:\d)))|(?P<q>\.?))(?!\d)(?![/.-]\d)"
)
"""Two days and months in digits, of which the last may have the year of both: `20.06. - 31.08.2024`."""
_MONTH_YEAR = re.compile(
    rf"(?<![\d/.,-])(?:(?P<n>\d{{1,2}})/(?P<y>(?:19|20)\d\d)(?![\d/-])|\b(?P<m>{any_of(MONTHS)})\b\.?,?\s+(?:van\s+)?(?P<y2>(?:19|20)\d\d)\b)"
)
_IN_MONTH = re.compile(rf"\b(?:in|begin|eind|medio|half|early|late|mid)\s+(?P<m>{any_of(MONTHS)})\b(?!\s*\d)")
_ONLY_MONTH = re.compile(rf"(?P<m>{any_of(FULL_MONTHS)})")
_NUMBERED = re.compile(
    r"\b(?:versie|version|v|release|build|ip|art|artikel|section|chapter|nr|no|tel|room|zaal)[\s.:]*$"
)
_AFTER_DAY = re.compile(r"\d(?:ste|de|e|st|nd|rd|th)?\.?\s*$")
_TIMED = re.compile(r"(?:\s*,)?\s*(?:om\s+|at\s+|@\s*|-\s+)?\d{1,2}(?:[:.]\d\d(?!\d)|\s?[ap]\.?\s?m\b)")
_IS_CLOCK = re.compile(r"\s*(?:uur|u\b|h\b|[ap]\.?m\b|-|tot\b)")
_AFTER_WEEKDAY = re.compile(rf"\b{FULL_WEEKDAY}\s+(?:of|van|in)\s+$")
_NUMBER = re.compile(r"\d{1,2}")


def dates_in(text: str, calendar: Calendar) -> Iterator[Mention]:
    """Every date in a prepared text, by the surest pattern first; each stretch of text is read once."""
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            mention = read(match, calendar)
            if mention is not None:
                yield mention


def _day_month(match: re.Match[str], calendar: Calendar) -> Mention | None:
    groups = match.groupdict()
    month = MONTHS[groups["m"].rstrip(".")]
    written = groups["y"] or groups.get("late") or groups.get("ys") or groups.get("yb")
    year = full_year(written) if written else None
    first = _resolved(int(groups["d"]), month, year, _weekday(groups["w"]), calendar)
    if first is None:
        return None
    last: date | None = None
    others: tuple[date, ...] = ()
    if groups["d2"]:
        last = _last(int(groups["d2"]), first, month)
        if last is None:
            return None
    elif groups["more"]:
        others = tuple(
            filter(None, (day(first.year, month, int(number)) for number in _NUMBER.findall(groups["more"])))
        )
    return Mention(
        begins=match.start(), ends=match.end(), first=first, last=last, others=others,
        year_given=year is not None, weekday=_weekday(groups["w"]), month_day=(month, int(groups["d"])),
    )  # fmt: skip


def _last(number: int, first: date, month: int) -> date | None:
    """The end of `20 t/m 22 november`; of `28 - 3 januari` it is the start that belongs to the month before."""
    last = day(first.year, month, number)
    return last if last is not None and last >= first else None


def _resolved(number: int, month: int, year: int | None, weekday: int | None, calendar: Calendar) -> date | None:
    if year is not None:
        return day(year, month, number)
    return without_year(month, number, weekday, calendar.today)


def _weekday(name: str | None) -> int | None:
    return WEEKDAYS[name.rstrip(".")] if name else None


def _year_first(match: re.Match[str], _: Calendar) -> Mention | None:
    month = _month(match["m"])
    first = day(int(match["y"]), month, int(match["d"]))
    if first is None or (match["s"] == " " and match["m"].isdigit()):
        return None
    return Mention(begins=match.start(), ends=match.end(), first=first, is_full=True)


def _month(written: str) -> int:
    return int(written) if written.isdigit() else MONTHS[written.rstrip(".")]


def _digits(match: re.Match[str], calendar: Calendar) -> Mention | None:
    if _NUMBERED.search(match.string, 0, match.start()) or _NUMBERED.search(match.string[: match.start()]):
        return None
    year, first_number, middle = full_year(match["y"]), int(match["a"]), match["b1"] or match["b2"]
    if not middle.isdigit():
        first = day(year, _month(middle), first_number)
    else:
        day_first = calendar.day_first or match["dot"] is not None
        first = _ordered(year, first_number, int(middle), _weekday(match["w"]), day_first=day_first)
    if first is None:
        return None
    return Mention(begins=match.start(), ends=match.end(), first=first, weekday=_weekday(match["w"]), is_full=True)


def _digit_span(match: re.Match[str], calendar: Calendar) -> Mention | None:
    """A range in digits; without a year only where nothing else can be meant: with points, or alone."""
    if match["s"] == match["to"]:  # `20-06-31-08`
        return None
    alone = match.end() - match.start() == len(match.string.strip())
    if not match["y"] and not (match["p"] and match["q"]) and not (match["s"] == "/" and (alone or match["w"])):
        return None
    turned = calendar.day_first or match["s"] == "."
    sides = [(int(match["a"]), int(match["b"])), (int(match["a2"]), int(match["b2"]))]
    (day_one, month_one), (day_two, month_two) = sides if turned else [(two, one) for one, two in sides]
    if match["y"]:
        last = day(full_year(match["y"]), month_two, day_two)
        first = day(last.year - ((month_one, day_one) > (month_two, day_two)), month_one, day_one) if last else None
    elif 1 <= month_one <= 12 and 1 <= month_two <= 12:  # noqa: PLR2004 - months of a year
        first = without_year(month_one, day_one, _weekday(match["w"]), calendar.today)
        later = first is not None and (month_two, day_two) < (first.month, first.day)
        last = day(first.year + later, month_two, day_two) if first else None
    else:
        return None
    if first is None or last is None:
        return None
    return Mention(
        begins=match.start(), ends=match.end(), first=first, last=last, year_given=bool(match["y"]),
        weekday=_weekday(match["w"]), is_full=True, middle=(match.end("b"), match.start("a2")),
    )  # fmt: skip


def _ordered(year: int, one: int, other: int, weekday: int | None, *, day_first: bool) -> date | None:
    """The day in the usual order; in the other one where the usual one names no day, or not the weekday beside it."""
    number, month = (one, other) if day_first else (other, one)
    usual, swapped = day(year, month, number), day(year, number, month)
    if usual is None or (swapped is not None and usual.weekday() != weekday == swapped.weekday()):
        return swapped
    return usual


def _short_digits(match: re.Match[str], calendar: Calendar) -> Mention | None:
    """`20/11` alone or beside a weekday or an hour; never `24/7`, a fraction or a score."""
    pointed = match["s"] == "." and match.string.startswith(".", match.end())  # `15.06.`
    ends = match.end() + pointed
    alone = ends - match.start() == len(match.string)
    timed = _TIMED.match(match.string, ends) is not None
    surely = (match["s"] == "/" or (pointed and calendar.day_first)) and (alone or timed) and match[0] != "24/7"
    if match["w"] is None and not surely:
        return None
    if match["s"] == "." and not pointed and (_IS_CLOCK.match(match.string, match.end()) or len(match["b"]) == 1):
        return None
    one, other = int(match["a"]), int(match["b"])
    number, month = (one, other) if calendar.day_first else (other, one)
    if not 1 <= month <= 12:  # noqa: PLR2004 - months of a year
        number, month = month, number
    weekday = _weekday(match["w"])
    first = without_year(month, number, weekday, calendar.today) if 1 <= month <= 12 else None  # noqa: PLR2004
    if first is None or (match["s"] == "." and not surely and first.weekday() != weekday):  # `zo 10.12` may be an hour
        return None
    return Mention(begins=match.start(), ends=ends, first=first, year_given=False, weekday=weekday, is_full=True)


def _month_year(match: re.Match[str], _: Calendar) -> Mention | None:
    before = match.string[: match.start()]
    if _AFTER_DAY.search(before) or _AFTER_WEEKDAY.search(before):  # 29 February 2026, third Thursday of January 2027
        return None
    month = int(match["n"]) if match["n"] else MONTHS[match["m"]]
    first = day(int(match["y"] or match["y2"]), month, 1)
    return Mention(begins=match.start(), ends=match.end(), first=first, grain=Grain.MONTH) if first else None


def _in_month(match: re.Match[str], calendar: Calendar) -> Mention | None:
    first = without_year(MONTHS[match["m"]], 1, None, calendar.today)
    if first is None:
        return None
    return Mention(begins=match.start(), ends=match.end(), first=first, grain=Grain.MONTH, year_given=False)


def _only_month(match: re.Match[str], calendar: Calendar) -> Mention | None:
    return _in_month(match, calendar) if match.end() - match.start() == len(match.string) else None


_READERS = (
    (_YEAR_FIRST, _year_first),
    (_DAY_MONTH, _day_month),
    (_MONTH_DAY, _day_month),
    (_DIGIT_SPAN, _digit_span),
    (_DIGITS, _digits),
    (_MONTH_YEAR, _month_year),
    (_SHORT_DIGITS, _short_digits),
    (_IN_MONTH, _in_month),
    (_ONLY_MONTH, _only_month),
)
