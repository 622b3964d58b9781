"""Dates that count from today: tomorrow, next Friday, this weekend, in five days, the first Sunday of the month."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tidemill.reading.moments.calendar import (
    last_weekday,
    months_later,
    next_weekday,
    nth_weekday,
    weekday_in_week,
)
from tidemill.reading.moments.dates import Mention
from tidemill.reading.moments.moment import Grain
from tidemill.reading.moments.words import (
    DAY_PARTS,
    FULL_WEEKDAY,
    FULL_WEEKDAYS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    any_of,
)

_DAYS = {
    "vandaag": 0, "today": 0, "morgen": 1, "tomorrow": 1, "overmorgen": 2, "day after tomorrow": 2,
    "gisteren": -1, "yesterday": -1, "eergisteren": -2, "day before yesterday": -2, "gister": -1,
}  # fmt: skip
_PART = rf"(?P<part>{any_of(DAY_PARTS)})"
_NAMED = re.compile(
    rf"(?<!goede )(?<!goeie )(?<!\w)(?:(?P<day>{any_of(_DAYS)})(?:\s?{_PART})?"
    r"|(?:van|deze |this )(?P<here>avond|middag|namiddag|ochtend|morgen|nacht|morning|afternoon|evening)"
    r"|(?P<tonight>tonight)|(?P<lately>last night))(?!\w)(?!-)"
)
_NEXT = r"volgende?|komende?|aankomende|aanstaande|eerstvolgende|next|coming|upcoming"
_LAST = r"vorige?|afgelopen|last|past"
_THIS = r"deze|dit|this|a\.s\.|as"
_WEEKDAY = re.compile(
    rf"(?<!\w)(?:(?P<how>{_NEXT}|{_LAST}|{_THIS})\s+)?(?P<name>{FULL_WEEKDAY})s?(?:\s?{_PART})?"
    rf"(?:\s+(?:(?P<after>a\.s\.|aanstaande|{_NEXT}|{_LAST})(?P<week>\s+week)?))?(?!\w)"
    rf"(?!,?\s*(?:the\s+|de\s+)?(?:\d{{1,2}}(?:e|de|ste|st|nd|rd|th)?\s+(?:{any_of(MONTHS)})|(?:{any_of(MONTHS)})\s+\d{{1,2}})\b)"
)
"""Not the weekday of a date: where that is none, such as 30 February, its weekday alone means nothing."""
_WEEK_WEEKDAY = re.compile(
    rf"(?<!\w)(?P<how>{_NEXT}|{_LAST}|{_THIS})\s+week\s+(?:op\s+|on\s+)?(?P<name>{FULL_WEEKDAY})(?:\s?{_PART})?(?!\w)"
)
_WEEKEND = re.compile(rf"(?<!\w)(?:(?P<how>{_NEXT}|{_THIS}|{_LAST}|het|the)\s+)?weekend(?!\w)")
_UNITS = {
    "seconden": "s", "seconde": "s", "seconds": "s", "second": "s", "sec": "s", "secs": "s",
    "minuten": "m", "minuut": "m", "minuutje": "m", "minutes": "m", "minute": "m", "mins": "m", "min": "m",
    "uur": "h", "uren": "h", "uurtje": "h", "hours": "h", "hour": "h", "hrs": "h", "hr": "h",
    "dagen": "d", "dag": "d", "days": "d", "day": "d", "d": "d", "weken": "w", "week": "w", "weeks": "w",
    "maanden": "M", "maand": "M", "months": "M", "month": "M", "mon": "M", "jaar": "y", "jaren": "y", "jr": "y",
    "years": "y", "year": "y",
}  # fmt: skip
_PERIOD = re.compile(rf"(?<!\w)(?P<how>{_NEXT}|{_LAST})\s+(?P<unit>week|maand|month)(?!\w)")
_COUNT = rf"(?:\d{{1,4}}(?:[.,]\d)?\s*|(?:{any_of(NUMBERS)}|half(?: an?| een)?|(?:a |een )?(?:few|paar))\s+)"
_STRETCH = rf"{_COUNT}(?:{any_of(_UNITS)})\b"
_STRETCHES = rf"(?P<spans>{_STRETCH}(?:(?:\s*,)?\s*(?:and\s+|en\s+)?{_STRETCH}){{0,4}})"
_BACK = re.compile(rf"(?<![\w+-]){_STRETCHES}\s+(?:geleden|ago|eerder|earlier|before|voor)(?!\w)")
_ON = re.compile(rf"(?<![\w+-]){_STRETCHES}\s+(?:later|from now|vanaf nu|vanaf vandaag|after|out|uit|hence)(?!\w)")
_WITHIN = re.compile(rf"(?<!\w)(?:over|in|binnen|within)\s+(?:de\s+)?{_STRETCHES}(?!\w)")
_SIGNED = re.compile(rf"^(?P<sign>[+-])\s?{_STRETCHES}")
_ONE_STRETCH = re.compile(rf"(?P<count>{_COUNT})(?P<unit>{any_of(_UNITS)})\b")
_NTH = re.compile(
    rf"(?<!\w)(?P<nth>{any_of(ORDINALS)})\s+(?P<name>{FULL_WEEKDAY})\s+(?:van|in|of)\s+"
    r"(?:(?P<any>(?:de |the |elke |each |every |iedere )*(?:maand|month))"
    rf"|(?P<month>{any_of(MONTHS)})(?:\s+(?P<year>(?:19|20)\d\d))?)(?!\w)"
)
_NOW = re.compile(r"^(?:nu|now)$")
_FEW = 3


def relatives_in(text: str, now: datetime) -> Iterator[Mention]:
    """Every date in a prepared text that counts from now."""
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            mention = read(match, now)
            if mention is not None:
                yield mention


def _mention(match: re.Match[str], first: date, *, last: date | None = None, part: str | None = None) -> Mention:
    hour = DAY_PARTS[part] if part else None
    return Mention(begins=match.start(), ends=match.end(), first=first, last=last, part=hour)


def _named(match: re.Match[str], now: datetime) -> Mention | None:
    today = now.date()
    if match["tonight"]:
        return _mention(match, today, part="evening")
    if match["lately"]:
        return _mention(match, today - timedelta(days=1), part="night")
    if match["here"]:
        return _mention(match, today, part=match["here"])
    if match["day"] == "morgen" and _follows_a_weekday(match):
        return None
    return _mention(match, today + timedelta(days=_DAYS[match["day"]]), part=match["part"])


def _follows_a_weekday(match: re.Match[str]) -> bool:
    before = match.string[: match.start()].split()
    return bool(before) and before[-1].strip(",.") in FULL_WEEKDAYS


def _weekday(match: re.Match[str], now: datetime) -> Mention:
    today, weekday = now.date(), FULL_WEEKDAYS[match["name"]]
    how = match["how"] or match["after"] or ""
    if match["week"]:
        found = weekday_in_week(weekday, today, _weeks(how))
    elif re.fullmatch(_LAST, how):
        found = last_weekday(weekday, today)
    else:
        found = next_weekday(weekday, today, strictly=how in {"volgende", "next"})
    return _mention(match, found, part=match["part"])


def _weeks(how: str) -> int:
    if re.fullmatch(_LAST, how):
        return -1
    return 0 if re.fullmatch(_THIS, how) else 1


def _week_weekday(match: re.Match[str], now: datetime) -> Mention:
    found = weekday_in_week(FULL_WEEKDAYS[match["name"]], now.date(), _weeks(match["how"]))
    return _mention(match, found, part=match["part"])


def _weekend(match: re.Match[str], now: datetime) -> Mention | None:
    how = match["how"]
    if how is None:
        return None
    saturday = weekday_in_week(5, now.date(), 0)
    if how in {"volgende", "volgend", "next"}:
        saturday += timedelta(days=7)
    elif re.fullmatch(_LAST, how):
        saturday -= timedelta(days=7)
    return _mention(match, saturday, last=saturday + timedelta(days=1))


def _period(match: re.Match[str], now: datetime) -> Mention:
    """`volgende week`, `last month`: this day of that week or month, and no more than that is known."""
    steps, unit = _weeks(match["how"]), _UNITS[match["unit"]]
    grain = Grain.WEEK if unit == "w" else Grain.MONTH
    return Mention(begins=match.start(), ends=match.end(), first=_moved(now, unit, steps).date(), grain=grain)


def _nth(match: re.Match[str], now: datetime) -> Mention | None:
    nth, weekday, today = ORDINALS[match["nth"]], FULL_WEEKDAYS[match["name"]], now.date()
    if match["month"]:
        years = [int(match["year"])] if match["year"] else [today.year, today.year + 1]
        days = [nth_weekday(nth, weekday, year, MONTHS[match["month"]]) for year in years]
    else:
        following = months_later(today.replace(day=1), 1)
        days = [nth_weekday(nth, weekday, start.year, start.month) for start in (today, following)]
    found = next((one for one in days if one and one >= today), days[0])
    if found is None:
        return None
    return Mention(begins=match.start(), ends=match.end(), first=found, is_full=match["month"] is not None)


def _back(match: re.Match[str], now: datetime) -> Mention | None:
    return _away(match, now, -1)


def _on(match: re.Match[str], now: datetime) -> Mention | None:
    return _away(match, now, 1)


def _signed(match: re.Match[str], now: datetime) -> Mention | None:
    return _away(match, now, -1 if match["sign"] == "-" else 1)


def _away(match: re.Match[str], now: datetime, sign: int) -> Mention | None:
    """So long from now: a day when it is counted in days or more, a minute when in hours or less."""
    moment, fine = now, False
    for stretch in _ONE_STRETCH.finditer(match["spans"]):
        unit, count = _UNITS[stretch["unit"]], _number(stretch["count"]) * sign
        fine = fine or unit in "smh"
        try:
            moment = _moved(moment, unit, count)
        except (OverflowError, ValueError):
            return None
    clock = (moment.hour, moment.minute) if fine else None
    return Mention(begins=match.start(), ends=match.end(), first=moment.date(), clock=clock, is_offset=True)


def _moved(moment: datetime, unit: str, count: float) -> datetime:
    match unit:
        case "M" | "y":
            months = int(count * (12 if unit == "y" else 1))
            return datetime.combine(months_later(moment.date(), months), moment.time(), moment.tzinfo)
        case _:
            seconds = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}[unit]
            return moment + timedelta(seconds=seconds * count)


def _number(count: str) -> float:
    written = count.strip()
    if written.endswith("few"):
        return _FEW
    if written.endswith("paar"):
        return _FEW - 1
    if written.startswith("half"):
        return 0.5
    return NUMBERS[written] if written in NUMBERS else float(written.replace(",", "."))


def _now(match: re.Match[str], now: datetime) -> Mention:
    return Mention(begins=match.start(), ends=match.end(), first=now.date(), clock=(now.hour, now.minute))


_READERS = (
    (_NTH, _nth),
    (_WEEK_WEEKDAY, _week_weekday),
    (_WEEKDAY, _weekday),
    (_NAMED, _named),
    (_WEEKEND, _weekend),
    (_PERIOD, _period),
    (_BACK, _back),
    (_ON, _on),
    (_WITHIN, _on),
    (_SIGNED, _signed),
    (_NOW, _now),
)
