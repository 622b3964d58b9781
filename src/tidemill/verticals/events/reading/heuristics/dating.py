"""Which elements of an outline tell a date, by their words or by the attributes that scripts read."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import msgspec

from tidemill.reading.moments import VAGUE, Grain, Moment, find_moments, in_zone, parse_moment, zone_of
from tidemill.reading.moments.other_languages import MONTH_NAMES
from tidemill.reading.moments.reader import FoundMoment
from tidemill.reading.moments.words import FULL_WEEKDAYS, MONTHS, any_of
from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.tables import cell_of, header_of, names_event_dates
from tidemill.verticals.events.reading.heuristics.wording import without_dates, years_in

LONGEST = 300
"""Characters of text in which one date is looked for; longer text is prose."""

UNDER_MONTH = "@month"
"""How the place of a date is marked that is a mere number under the name of a month."""

DATE_HINT = re.compile(
    rf"\d{{1,2}}[-/.]\s?\d{{1,2}}|\d\s*(?:ste|de|er|e|st|nd|rd|th|º|°)?\.?\s*(?:of\s+|de\s+)?"
    rf"(?:{any_of({*MONTHS, *MONTH_NAMES})})\b"
    rf"|\b(?:{any_of(MONTHS)})\b\.?\s*\d|\b(?:vandaag|morgen|vanavond|today|tomorrow|tonight)\b"
    rf"|\b(?:elke|iedere|every|each)\s+(?:{any_of(FULL_WEEKDAYS)})"
    rf"|^\W*(?:{any_of(FULL_WEEKDAYS)}),?\s+(?:at|@|om)\s+\d{{1,2}}(?:[:.]\d\d)?\s*(?:[ap]\.?m\b|uur\b)",
    re.IGNORECASE,
)
_NOT_EVENT_DATE = re.compile(
    r"(?:geplaatst|gepubliceerd|publicatiedatum|bijgewerkt|gewijzigd|laatste update|posted|published|updated|modified"
    r"|reviewed|copyright|©|deadlines?\b[^.]{0,30}|tickets? (?:vanaf|from)|(?<!be )held|gehouden|clos(?:es|ing)"
    r"|(?:closed|gesloten|geschlossen|ferm\u00e9e?s?)\b[^.;]{0,30}|sluit|\bligg?(?:t|en)(?: van| vanaf)?"
    r"|\b(?:registration|registrations|enrollment|inschrijving|verkoop|sales?) (?:opens?|begins?|starts?|ends?"
    r"|start|opent)"
    r"|\b(?:refunds?|proposals|applications|nominations|inscriptions?|iscrizioni)\b[^.;]{0,30}|\bon sale"
    r"|\b(?:avant le|jusqu'au|hasta el|antes del|entro il|vor dem)|\b(?:by|before|not? later than|v\u00f3\u00f3r)"
    r"|\b(?:filed|accepted|submitted|ingediend|aangemeld) (?:until|through|till|tot)"
    r"|revised|dated|gedateerd|effective|geldig (?:vanaf|tot)|ingangsdatum"
    r"|due(?: (?:by|on))?|postmarked(?: by)?|uiterlijk"
    r"|(?:created|adopted|approved|established|founded|opgericht)(?: by \w+)?"
    r"|(?:rescheduled|postponed|moved|verplaatst|verzet|uitgesteld) (?:from|van)"
    r"|\b(?:owned|created|submitted|added|uploaded|written|edited|filed|issued|geplaatst|geschreven) (?:by"
    r"|door) .{1,24}"
    r"|\b(?:terms?(?: of office)?|appointment|zittingstermijn|mandaat)"
    r"(?: (?:that|which))?(?: (?:ends?|ending|expir\w+|through|until|:))*"
    r"|\bexpir(?:es|ed|ing|y|ation)|\b(?:appointed|elected|sworn in|benoemd|verkozen)|\bserv(?:es|ing) (?:until"
    r"|through)"
    r"|\b(?:received|ontvangen|ingekomen|ingediend|signed|ondertekend|ter inzage(?: tot)?"
    r"|bezwaar\w*(?: \w+){0,4} tot(?: en met)?)"
    r"|(?:inschrijven|aanmelden|opgeven|reageren|solliciteren|reserveren|apply|register|rsvp|registration|aanmelding)"
    r"(?: \w+){0,3}? (?:tot(?: en met)?|t/m|voor|v\u00f3\u00f3r|by|before|until|through))"
    r"\s*(?:op|on|at|by|date|:|-)*\s*$",
    re.IGNORECASE,
)
_NOT_EVENT_COLUMN = re.compile(
    r"\b(?:terms?|expir\w*|appoint\w*|elected|member since|since|modified|changed|created|received|submi\w*"
    r"|filed|issued"
    r"|posted|publish\w*|publication|uploaded|added|updated|revised|approved|adopted|enacted|signed|effective|due|deadlines?"
    r"|closing|closes|closed|cut-?off|review\w*|renew\w*|decision|filing|order|invoice|payment|hire|release\w*"
    r"|valid\w*|apply by|award\w*|hired|born|birth\w*|last \w+|gepubliceerd|publicatie\w*"
    r"|gewijzigd"
    r"|geplaatst|ontvangen|ingediend|ingekomen|verzonden|vastgesteld|benoemd|aftred\w*|zittingstermijn|ter inzage"
    r"|sluit\w*|reactietermijn|uiterlijk\w*|inlever\w*|aanlever\w*)\b",
    re.IGNORECASE,
)
"""What the column of a date is called that is when something ends, is due or was written."""
_POSTED = re.compile(
    r"\b(?:geplaatst|gepubliceerd|publicatiedatum|posted|published)"
    r"(?: (?:op|on|by [^.]{1,40}? on))?\s*:?\s*(?:\w+ )?\d+(?!\d|\s*(?:hours?|days?|uur|dagen)\b)",
    re.IGNORECASE,
)
_POSTED_NAME = re.compile(
    r"byline|posted|publish|pubdate|(?:post|entry|article|news|blog)[_-](?:date|meta|time)|author|nieuws|updated|comment"
)
"""What authors call the element that tells when something was written."""
_TIMESTAMP_NAME = re.compile(r"start|begin|date|time|when|datum|tijd")
_NOT_TIMESTAMP_NAME = re.compile(r"end|stop|updat|modif|publish|creat|expire|format|duration|zone")
_EPOCH = re.compile(r"(?P<start>1\d{9})(?:\d{3})?(?:\s*-\s*(?P<end>1\d{9})(?:\d{3})?)?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d{8}(?:T\d{4,6}Z?)?")
_SHORT = 40
_PROSE = 45
_SHORT_LINE, _OPENING = 110, 160
_AND = re.compile(r"\s*(?:,|en|and|&)\s*", re.IGNORECASE)
_LONG_AGO = timedelta(days=400)
_FEW_WORDS = 3
_EVERY = re.compile(r"\b(?:elke|iedere|every|each)\b", re.IGNORECASE)
_DAY_AND_MONTH = re.compile(r"(?P<day>[0-3]\d)-(?P<month>[01]\d)")
_DIGIT = re.compile(r"\d")


class ElementDate(msgspec.Struct, frozen=True):
    """An element that tells a date, and what it tells; `written` are its words, `place` how they were found."""

    moment: Moment
    written: str
    place: str


def moments_in(text: str, context: ReadingContext, year: int | None = None) -> tuple[tuple[int, int, Moment], ...]:
    """The dates in a text that may be an event's, with where they stand; `year` is the one that the context names."""
    found, own = _found_in(text, context)
    if own is not None or year is None:
        return found
    return tuple((begins, ends, _in_year(moment, year)) for begins, ends, moment in found)


@lru_cache(maxsize=2_048)
def _found_in(text: str, context: ReadingContext) -> tuple[tuple[tuple[int, int, Moment], ...], int | None]:
    """The dates in a text, in the year that it names itself, and that year; remembered, since blocks ask again."""
    if not (_DIGIT.search(text) or len(text) <= _SHORT) or not DATE_HINT.search(text):
        return (), None
    found = find_moments(text, context.now, context.time_zone, context.language, day_first=context.day_first)
    own = years_in(text) if len(found) > 1 else set()
    year = next(iter(own)) if len(own) == 1 else None
    return tuple((one.begins, one.ends, _in_year(one.moment, year)) for one in _event_dates(found, text)), year


def _event_dates(found: list[FoundMoment], text: str) -> Iterator[FoundMoment]:
    """The dates that may be an event's: days, named as such, and not when something was posted, adopted or closed."""
    refused = -1
    for one in found:
        goes_on = refused >= 0 and _AND.fullmatch(text[refused : one.begins])
        if (
            goes_on
            or _refers(text, one)
            or _is_of_papers(text, one)
            or _LASTS_UNTIL.search(text[max(0, one.begins - _UNTIL) : one.begins])
            or _NOT_EVENT_DATE.search(text[max(0, one.begins - 40) : one.begins])
        ):
            refused = one.ends
        elif one.moment.grain not in VAGUE and (one.absolute or _is_about(one.moment, text)):
            yield one


def _refers(text: str, found: FoundMoment) -> bool:
    """Whether a date in brackets behind many words says when what they tell of was decided: `... Road. (9/9/19)`."""
    bracketed = text[found.begins - 1 : found.begins] == "(" and text[found.ends : found.ends + 1] == ")"
    return bracketed and found.begins > _SHORT_LINE // 2 and found.moment.grain is not Grain.MINUTE


def _is_of_papers(text: str, found: FoundMoment) -> bool:
    """Whether a date is that of a meeting whose papers are told of: `the minutes of the May 10 meeting are here`."""
    before = _PAPERS_OF.search(text[max(0, found.begins - _REACH) : found.begins])
    if before is None:
        return False
    return before["done"] is not None or _ARE_DONE.match(text, found.ends) is not None


_LASTS_UNTIL = re.compile(
    r"(?<!\w)(?:until|till|through|thru|tot(?: en met)?|t/m|bis(?: zum)?|hasta(?: el)?|fino al)\s+$", re.IGNORECASE
)
"""What stands before the last day of something whose first day is not told beside it."""
_UNTIL = 20
_REACH = 60
_PAPERS_OF = re.compile(
    r"(?P<done>\b(?:approv\w+|adopt\w+|accept\w+|review\w*|correct\w*|consider\w*|vaststell\w+|goedkeur\w+)\b"
    r"[^.;]{0,30}?)?"
    r"\b(?:minutes|notulen|verslag|recordings?|video|audio|summary|besluitenlijst)\s+(?:of|from|for|van)\s+"
    r"(?:(?:the|our|de|het)\s+)?(?:[a-z]+,?\s+){0,3}$",
    re.IGNORECASE,
)
"""What stands before the date of a meeting that is past: its papers, and what is done with them."""
_ARE_DONE = re.compile(
    r",?\s*(?:\w+\s+){0,3}(?:meetings?|sessions?|hearings?|vergadering(?:en)?|bijeenkomst)\s+(?:are|is|have|has|were|was"
    r"|can|may|zijn|staan|staat)\b",
    re.IGNORECASE,
)


def _is_about(moment: Moment, text: str) -> bool:
    """Whether a text is about a date that counts from today: it is short, or says `every Tuesday at` an hour."""
    return len(text) <= (_SHORT_LINE if moment.grain is Grain.MINUTE and _EVERY.search(text) else _SHORT)


def _in_year(moment: Moment, year: int | None) -> Moment:
    """The moment in the year that a heading names, unless the weekday beside the date is of another year."""
    if year is None or moment.year_given:
        return moment
    try:
        moved = moment.starts.replace(year=year)
    except ValueError:  # the 29th of February of another year
        return moment
    if moment.weekday_agrees and moved.weekday() != moment.starts.weekday():
        return moment
    ends = moment.ends and moment.ends + (moved - moment.starts)
    return msgspec.structs.replace(moment, starts=moved, ends=ends, year_given=True)


def timestamp_of(element: Element, context: ReadingContext) -> ElementDate | None:
    """The date in an element's attributes: `<time datetime>`, or a stamp that scripts read."""
    for name, value in element.attributes.items():
        if not value or not _is_timestamp_name(name) or (name == "title" and "-" not in value):
            continue
        moment = _parsed_timestamp(value.strip(), context)
        if moment is not None:
            return ElementDate(moment, value.strip(), f"{element.kind}@{name}")
    return None


def _is_timestamp_name(name: str) -> bool:
    if name in {"datetime", "title"}:  # an hCalendar's `<abbr title="2026-03-14">` too
        return True
    return (
        name.startswith(("data-", "date-"))
        and bool(_TIMESTAMP_NAME.search(name))
        and not _NOT_TIMESTAMP_NAME.search(name)
    )


def _parsed_timestamp(value: str, context: ReadingContext) -> Moment | None:
    zone = zone_of(context.time_zone)
    epoch = _EPOCH.fullmatch(value)
    if epoch is not None:
        starts = in_zone(datetime.fromtimestamp(int(epoch["start"]), UTC), zone)
        ends = in_zone(datetime.fromtimestamp(int(epoch["end"]), UTC), zone) if epoch["end"] else None
        return Moment(starts=starts, ends=ends, grain=Grain.MINUTE, text=value)
    return parse_moment(value, context.now, context.time_zone) if _ISO.fullmatch(value) else None


def date_of(element: Element, context: ReadingContext) -> ElementDate | None:
    """The date that an element tells itself, if it is short enough to be about it."""
    stamp = timestamp_of(element, context)
    if stamp is not None:
        return stamp
    text = element.text
    if len(text) > LONGEST:
        return _in_opening(element, context)
    if not text:
        return None
    found = [
        moment
        for begins, _, moment in moments_in(_as_full_date(text), context)
        if is_near_start(begins, len(text)) or _announces(text, begins, moment)
    ]
    if not found and len(text) > _SHORT_LINE and any(child.tag == "br" for child in element.children):
        lines = (line for line in element.lines() if DATE_HINT.search(line))
        found = [
            moment
            for line in lines
            for begins, _, moment in moments_in(line, context)
            if is_near_start(begins, len(line))
        ]
    return ElementDate(found[0], text, element.kind) if found else None


def _announces(text: str, begins: int, moment: Moment) -> bool:
    """Whether a sentence says that something will be held on that day at an hour; prose about other days does not."""
    return moment.grain is Grain.MINUTE and _WILL_BE.search(text[max(0, begins - _REACH) : begins]) is not None


_WILL_BE = re.compile(
    r"\b(?:(?:will|shall) (?:be held|hold|conduct|meet|convene|take place|be|gather)"
    r"|(?:is|are) (?:scheduled|set|planned) (?:for|on|to)"
    r"|(?:wordt|worden) gehouden|vindt plaats|vinden plaats|vergadert|komt bijeen|findet statt|aura lieu"
    r"|tendr\u00e1 lugar"
    r"|next [a-z ]{0,30}(?:meeting|hearing|session)[a-z ]{0,12}(?:is|:))(?: \w+){0,6}?,?\s*$",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\W*(?:date|when|datum|wanneer|fecha|wann)\b", re.IGNORECASE)


def _in_opening(element: Element, context: ReadingContext) -> ElementDate | None:
    """The day and hour that a long paragraph opens with, as an excerpt of a notice does; news opens with a day only."""
    if element.tag != "p" or element.children or _LABELLED.match(element.text):
        return None  # a notice whose facts have labels tells its day in a line of its own
    opening = element.text[:_OPENING]
    found = [
        moment
        for begins, _, moment in moments_in(opening, context)
        if begins <= _OPENING // 2 and moment.grain is Grain.MINUTE
    ]
    return ElementDate(found[0], opening, element.kind) if found else None


def _as_full_date(text: str) -> str:
    """`04-12` as a date where it is all that an element says; in running text it is a score or a stretch."""
    match = _DAY_AND_MONTH.fullmatch(text)
    return f"{match['day']}/{match['month']}" if match else text


def is_event_date(element: Element, date: ElementDate, context: ReadingContext) -> bool:
    """Whether an element's date is when something happens, not when a text was written or what it looks back on."""
    if _NOT_EVENT_DATE.search(element.words_before()[-40:]) or not _is_event_column(element):
        return False
    day, today = date.moment.day, context.now.date()
    if day > today:
        return True
    if _POSTED_NAME.search(element.names) or (element.parent is not None and _POSTED_NAME.search(element.parent.names)):
        return False
    return not (day < today - _LONG_AGO and _is_sentence(element.text))


def _is_event_column(element: Element) -> bool:
    """Whether the column that an element stands in, if any, holds days on which something is on."""
    cell = cell_of(element)
    return cell is None or (names_event_dates(cell) and _NOT_EVENT_COLUMN.search(header_of(cell)) is None)


def _is_sentence(text: str) -> bool:
    return text.endswith(".") and len(without_dates(text).split()) > _FEW_WORDS


def is_posted(text: str) -> bool:
    """Whether a text tells when it was posted, as news does."""
    return _POSTED.search(text) is not None


def is_near_start(begins: int, length: int) -> bool:
    """Whether a date stands where a line is about it: near its start, or in a short line; else it is prose."""
    return begins <= _PROSE or length <= _SHORT_LINE
