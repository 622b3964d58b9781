"""Which elements of an outline tell a date, by their words or by the attributes that scripts read."""

import re
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from tidemill.reading.heuristics.outline import Element
from tidemill.reading.moments import VAGUE, Grain, Moment, find_moments, in_zone, parse_moment, zone_of
from tidemill.reading.moments.reader import Found
from tidemill.reading.moments.words import MONTHS, any_of
from tidemill.reading.setting import Setting

LONGEST = 300
"""Characters of text in which one date is looked for; longer text is prose."""

HINT = re.compile(
    rf"\d{{1,2}}[-/.]\s?\d{{1,2}}|\d\s*(?:ste|de|e|st|nd|rd|th)?\.?\s*(?:of\s+)?(?:{any_of(MONTHS)})\b"
    rf"|\b(?:{any_of(MONTHS)})\b\.?\s*\d|\b(?:vandaag|morgen|vanavond|today|tomorrow|tonight)\b",
    re.IGNORECASE,
)
_NOT_WHEN = re.compile(
    r"(?:geplaatst|gepubliceerd|publicatiedatum|bijgewerkt|gewijzigd|laatste update|posted|published|updated|modified"
    r"|created|reviewed|copyright|©|inschrijven (?:tot|voor)|aanmelden (?:tot|voor)|deadline|tickets? (?:vanaf|from)"
    r"|adopted|approved|(?<!be )held|gehouden)\s*(?:op|on|at|by|date|:|-)*\s*$",
    re.IGNORECASE,
)
_POSTED = re.compile(
    r"\b(?:geplaatst|gepubliceerd|publicatiedatum|posted|published)"
    r"(?: (?:op|on|by [^.]{1,40}? on))?\s*:?\s*(?:\w+ )?\d",
    re.IGNORECASE,
)
_STAMP_NAME = re.compile(r"start|begin|date|time|when|datum|tijd")
_NOT_STAMP_NAME = re.compile(r"end|stop|updat|modif|publish|creat|expire|format|duration|zone")
_EPOCH = re.compile(r"(?P<start>1\d{9})(?:\d{3})?(?:\s*-\s*(?P<end>1\d{9})(?:\d{3})?)?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d{8}(?:T\d{4,6}Z?)?")
_SHORT = 40
_PROSE = 45
_SHORT_LINE = 110
_DIGIT = re.compile(r"\d")


class Dated(msgspec.Struct, frozen=True):
    """An element that tells a date, and what it tells; `written` are its words, `place` how they were found."""

    moment: Moment
    written: str
    place: str


@lru_cache(maxsize=2_048)
def moments_in(text: str, setting: Setting, year: int | None = None) -> tuple[tuple[int, int, Moment], ...]:
    """The dates in a text that may be an event's, with where they stand; `year` is the one that the context names."""
    if not (_DIGIT.search(text) or len(text) <= _SHORT) or not HINT.search(text):
        return ()
    found = find_moments(text, setting.now, setting.time_zone, setting.language, day_first=setting.day_first)
    return tuple((one.begins, one.ends, _in_year(one.moment, year)) for one in found if _may_be_when(one, text))


def _may_be_when(found: Found, text: str) -> bool:
    """Whether a date may be an event's: a day, named as one, and not when something was posted or adopted."""
    if found.moment.grain in VAGUE or not (found.absolute or len(text) <= _SHORT):
        return False
    return _NOT_WHEN.search(text[max(0, found.begins - 40) : found.begins]) is None


def _in_year(moment: Moment, year: int | None) -> Moment:
    if year is None or moment.year_given:
        return moment
    try:
        moved = moment.starts.replace(year=year)
    except ValueError:  # the 29th of February of another year
        return moment
    ends = moment.ends and moment.ends + (moved - moment.starts)
    return msgspec.structs.replace(moment, starts=moved, ends=ends, year_given=True)


def stamp_of(element: Element, setting: Setting) -> Dated | None:
    """The date in an element's attributes: `<time datetime>`, or a stamp that scripts read."""
    for name, value in element.attributes.items():
        if not value or not _names_a_stamp(name):
            continue
        moment = _stamped(value.strip(), setting)
        if moment is not None:
            return Dated(moment, value.strip(), f"{element.kind}@{name}")
    return None


def _names_a_stamp(name: str) -> bool:
    if name == "datetime":
        return True
    return name.startswith(("data-", "date-")) and bool(_STAMP_NAME.search(name)) and not _NOT_STAMP_NAME.search(name)


def _stamped(value: str, setting: Setting) -> Moment | None:
    zone = zone_of(setting.time_zone)
    epoch = _EPOCH.fullmatch(value)
    if epoch is not None:
        starts = in_zone(datetime.fromtimestamp(int(epoch["start"]), UTC), zone)
        ends = in_zone(datetime.fromtimestamp(int(epoch["end"]), UTC), zone) if epoch["end"] else None
        return Moment(starts=starts, ends=ends, grain=Grain.MINUTE, text=value)
    return parse_moment(value, setting.now, setting.time_zone) if _ISO.fullmatch(value) else None


def date_of(element: Element, setting: Setting) -> Dated | None:
    """The date that an element tells itself, if it is short enough to be about it."""
    stamp = stamp_of(element, setting)
    if stamp is not None:
        return stamp
    text = element.text
    if not text or len(text) > LONGEST:
        return None
    found = [moment for begins, _, moment in moments_in(text, setting) if leads(begins, len(text))]
    return Dated(found[0], text, element.kind) if found else None


def is_posted(text: str) -> bool:
    """Whether a text tells when it was posted, as news does."""
    return _POSTED.search(text) is not None


def leads(begins: int, length: int) -> bool:
    """Whether a date stands where a line is about it: near its start, or in a short line; else it is prose."""
    return begins <= _PROSE or length <= _SHORT_LINE
