"""Which elements of an outline tell a date, by their words or by the attributes that scripts read."""

import re
from datetime import UTC, datetime

import msgspec

from tidemill.reading.heuristics.outline import Element
from tidemill.reading.moments import Grain, Moment, find_moments, in_zone, parse_moment, zone_of
from tidemill.reading.moments.words import MONTHS, any_of
from tidemill.reading.setting import Setting

LONGEST = 300
"""Characters of text in which one date is looked for; longer text is prose."""

HINT = re.compile(
    rf"\d{{1,2}}[-/.]\s?\d{{1,2}}|\d\s*(?:ste|de|e|st|nd|rd|th)?\.?\s*(?:of\s+)?(?:{any_of(MONTHS)})\b|\b(?:{any_of(MONTHS)})\b\.?\s*\d"
    r"|\b(?:vandaag|morgen|vanavond|today|tomorrow|tonight)\b",
    re.IGNORECASE,
)
_NOT_WHEN = re.compile(
    r"(?:geplaatst|gepubliceerd|publicatiedatum|bijgewerkt|gewijzigd|laatste update|posted|published|updated|modified|created|reviewed|"
    r"copyright|©|inschrijven (?:tot|voor)|aanmelden (?:tot|voor)|deadline|tickets? (?:vanaf|from)|adopted|approved)"
    r"\s*(?:op|on|at|by|date|:|-)*\s*$",
    re.IGNORECASE,
)
_STAMP_NAME = re.compile(r"start|begin|date|time|when|datum|tijd")
_NOT_STAMP_NAME = re.compile(r"end|stop|updat|modif|publish|creat|expire|format|duration|zone")
_EPOCH = re.compile(r"(?P<start>1\d{9})(?:\d{3})?(?:\s*-\s*(?P<end>1\d{9})(?:\d{3})?)?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d{8}(?:T\d{4,6}Z?)?")
_SHORT = 40


class Dated(msgspec.Struct, frozen=True):
    """An element that tells a date, and what it tells; `written` are its words, `place` how they were found."""

    moment: Moment
    written: str
    place: str


def moments_in(text: str, setting: Setting, year: int | None = None) -> list[tuple[int, int, Moment]]:
    """The dates in a text that may be an event's, with where they stand; `year` is the one that the context names."""
    if not HINT.search(text):
        return []
    now = setting.now
    found = find_moments(text, now, setting.time_zone, setting.language, day_first=setting.day_first)
    kept = []
    for one in found:
        relative = not one.absolute
        if (
            one.moment.grain is Grain.MONTH
            or (relative and len(text) > _SHORT)
            or _NOT_WHEN.search(text[max(0, one.begins - 40) : one.begins])
        ):
            continue
        kept.append((one.begins, one.ends, _in_year(one.moment, year)))
    return kept


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
        if not value or not (name == "datetime" or (name.startswith("data-") and _STAMP_NAME.search(name))):
            continue
        if _NOT_STAMP_NAME.search(name):
            continue
        moment = _stamped(value.strip(), setting)
        if moment is not None:
            return Dated(moment, value.strip(), f"{element.kind}@{name}")
    return None


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
    found = moments_in(text, setting)
    return Dated(found[0][2], text, element.kind) if found else None
