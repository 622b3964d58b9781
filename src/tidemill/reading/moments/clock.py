"""Times of the day as agendas write them: `20.30 uur`, `half acht`, `7-9 pm`, `aanvang 20:00`, `hele dag`."""

import re
from datetime import time

import msgspec

from tidemill.reading.moments.words import HOURS, any_of


class ClockTime(msgspec.Struct, frozen=True, kw_only=True):
    """A time, or a span of time, that a text names between `begins` and `ends`.

    `role` is what the word before it says: '' for nothing, or 'start', 'doors', 'end'.
    """

    begins: int
    ends: int
    start: time
    end: time | None = None
    role: str = ""


_NOON = 12
_HOURS = 24
_EVENING_HOURS = 9
"""Spoken hours before this one are taken for the afternoon or evening: nobody opens at half past three at night."""


def _point(number: int) -> str:
    return (
        rf"(?P<h{number}>\d{{1,2}})(?:\s?(?P<s{number}>[:.])\s?(?P<m{number}>\d\d)(?!\d)(?::\d\d(?:[.,]\d+)?)?"
        rf"|(?P<t{number}>[uh])(?P<n{number}>\d\d)(?!\d))?"
        rf"(?:\s?(?P<p{number}>[ap]\.?\s?m\b\.?))?(?:\s?(?P<u{number}>uur\b(?!\s+(?:per|lang)\b)|u\b|hrs?\b|h\b(?!\s?\d+\s?m)|o'clock\b))?"
    )


_SPAN = r"\s*(?:-+|tot en met|tot|t/m|to|until|till|and|en)\s*(?:ca\.?\s*|circa\s*|about\s*)?"
_DIGITS = re.compile(rf"(?<![\d.,:/€$£#-])(?<!\w){_point(1)}(?:{_SPAN}{_point(2)})?(?![\d%])(?!\s?(?:€|euro\b|eur\b))")
_HOUR_WORD = rf"(?P<word>{any_of(HOURS)}|1[0-2]|[1-9])"
_SPOKEN = re.compile(
    rf"(?<!\w)(?:(?P<half>half)\s+(?P<past>past\s+)?{_HOUR_WORD}(?!\w)(?!\s*(?:uur geleden|[:.]\d))"
    rf"|(?P<quarter>kwart|quarter)\s+(?P<side>voor|over|to|past)\s+(?P<word2>{any_of(HOURS)}|1[0-2]|[1-9])(?!\w)"
    rf"|(?P<word3>{any_of(HOURS)})\s+(?:uur|o'clock)(?!\w)(?!\s+(?:geleden|later|vanaf)))"
)
_NAMED = re.compile(r"(?<!\w)(?:(?P<noon>noon|midday)|(?P<midnight>midnight|middernacht))(?!\w)")
_PART = re.compile(
    r"'?s\s(?P<nl>ochtends|morgens|middags|namiddags|avonds|nachts)"
    r"|in the (?P<en>morning|afternoon|evening)|(?P<night>at night)"
)
_ALL_DAY = re.compile(r"(?<!\w)(?:(?:de )?(?:hele|gehele) dag|all[- ]day)(?!\w)")
_LEADS = re.compile(
    r"(?:^|[\s,(:])(?:om|vanaf|v\.?a\.?|aanvang(?:stijd)?|van|tot|at|from|start(?:s|tijd)?|begint|begin|tijd(?:stip)?|time|inloop"
    r"|deuren|open|doors|until|einde|eind|ca|circa|around|rond|tussen|between)\s*(?:om\s*|open\s*|at\s*)?[:.]?\s*$"
)
_DOORS = (
    r"(?:inloop|deur(?:en)?|zaal|doors?|ontvangst|walk-?in)(?: (?:is|gaat|gaan|are|at))?(?: open)?(?: (?:om|vanaf|at))?"
)
_STARTS = r"(?:aanvang|start|starts|starttijd|aanvangstijd|begint|begin|showtime)(?: (?:om|at|is))?"
_STOPS = r"(?:einde|eind|eindtijd|tot|until|ends?|uiterlijk)(?: (?:om|at|is|ca\.?|circa))?"
_ROLES = tuple(
    (re.compile(rf"{words}\s*[:.]?\s*$"), role)
    for words, role in ((_DOORS, "doors"), (_STARTS, "start"), (_STOPS, "end"))
)
_LATER = frozenset({"middags", "namiddags", "avonds", "afternoon", "evening", "at night"})


def says_all_day(text: str) -> bool:
    """Whether a prepared text says that it lasts the whole day."""
    return "da" in text and _ALL_DAY.search(text) is not None


def clocks_in(text: str, after: int = -1) -> list[ClockTime]:
    """Every time in a prepared text whose dates have been blanked out, in order.

    A dotted time (`20.30`) needs a word that makes it one: `uur`, `pm`, a lead such as `om`, or a date that
    it directly follows; `after` is where the last date before it ends.
    """
    found = [clock for match in _DIGITS.finditer(text) if (clock := _of_digits(match, after)) is not None]
    found += [clock for match in _SPOKEN.finditer(text) if (clock := _of_words(match)) is not None]
    found += [
        ClockTime(
            begins=match.start(),
            ends=match.end(),
            start=time(12 if match["noon"] else 0),
            role=_role(text, match.start()),
        )
        for match in _NAMED.finditer(text)
    ]
    return sorted(found, key=lambda clock: clock.begins)


def chosen(clocks: list[ClockTime]) -> ClockTime | None:
    """The time that it starts: the one called so, else the first that is not the doors' or the end's."""
    if not clocks:
        return None
    best = next((clock for clock in clocks if clock.role == "start"), None)
    best = best or next((clock for clock in clocks if not clock.role), None)
    best = best or next((clock for clock in clocks if clock.role == "doors"), None)
    if best is None or best.end is not None:
        return best
    closing = next((clock for clock in clocks if clock.role == "end" and clock.begins > best.begins), None)
    return msgspec.structs.replace(best, end=closing.start) if closing else best


def _of_digits(match: re.Match[str], after: int) -> ClockTime | None:
    led = _is_led(match.string, match.start(), after)
    both = match["h2"] is not None
    plain = [_is_plain(match, number) for number in (1, 2)[: 1 + both]]
    dotted = match["s1"] == "." and (match["s2"] == "." or not both)
    if not (any(plain) or (dotted and led) or (dotted and both and match["s2"] == ".")):
        return None
    if dotted and not led and not any(plain) and not re.fullmatch(r"\d\d\.\d\d\s?-+\s?\d\d\.\d\d", match[0].strip()):
        return None
    if both and not (plain[1] or plain[0] or dotted):
        return None
    start, end = _times(match, both=both)
    if start is None:
        return None
    part = _part(match.string)
    return ClockTime(
        begins=match.start(), ends=match.end(), start=_in_part(start, part),
        end=_in_part(end, part) if end else None, role=_role(match.string, match.start()),
    )  # fmt: skip


def _is_led(text: str, at: int, after: int) -> bool:
    before = text[max(0, at - 24) : at]
    return _LEADS.search(before) is not None or (after >= 0 and not text[after:at].strip(" ,;-()\x00"))


def _is_plain(match: re.Match[str], number: int) -> bool:
    """Whether a point is a time by its own looks."""
    return match[f"s{number}"] == ":" or any(match[f"{mark}{number}"] for mark in "tpu")


def _times(match: re.Match[str], *, both: bool) -> tuple[time | None, time | None]:
    first, second = _meridiem(match, 1), _meridiem(match, 2) if both else ""
    end = _time(match, 2, second) if both else None
    if both and end is None:
        return None, None
    start = _time(match, 1, first or second)
    if start is not None and end is not None and not first and second and start > end:
        start = _time(match, 1, "am" if second == "pm" else "pm")
    return start, end


def _meridiem(match: re.Match[str], number: int) -> str:
    written = match[f"p{number}"]
    return f"{written[0]}m" if written else ""


def _time(match: re.Match[str], number: int, meridiem: str) -> time | None:
    hour, minute = int(match[f"h{number}"]), int(match[f"m{number}"] or match[f"n{number}"] or 0)
    if meridiem:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if meridiem == "pm" else 0)
    if hour == _HOURS and minute == 0:
        return time(23, 59)
    return time(hour, minute) if hour < _HOURS and minute < 60 else None  # noqa: PLR2004 - minutes of an hour


def _of_words(match: re.Match[str]) -> ClockTime | None:
    word = match["word"] or match["word2"] or match["word3"]
    hour = HOURS.get(word) or int(word)
    minutes = hour * 60 + _offset(match)
    spoken = time(minutes // 60 % _HOURS, minutes % 60)
    part = _part(match.string)
    if part:
        spoken = _in_part(spoken, part)
    elif spoken.hour < _EVENING_HOURS:
        spoken = spoken.replace(hour=spoken.hour + _NOON)
    return ClockTime(begins=match.start(), ends=match.end(), start=spoken, role=_role(match.string, match.start()))


def _offset(match: re.Match[str]) -> int:
    if match["half"]:
        return 30 if match["past"] else -30
    if match["quarter"]:
        return 15 if match["side"] in {"over", "past"} else -15
    return 0


def _part(text: str) -> str:
    match = _PART.search(text)
    return match["nl"] or match["en"] or match["night"] if match else ""


def _in_part(moment: time, part: str) -> time:
    return moment.replace(hour=moment.hour + _NOON) if part in _LATER and moment.hour < _NOON else moment


def _role(text: str, at: int) -> str:
    before = text[max(0, at - 30) : at]
    return next((role for pattern, role in _ROLES if pattern.search(before)), "")
