"""Words on a page that are a title, and words that only look like one."""

import re
from collections.abc import Sequence
from functools import lru_cache

from tidemill.reading.moments.other_languages import in_known_words
from tidemill.reading.moments.words import FULL_WEEKDAYS, MONTHS, WEEKDAYS, any_of

_MONTH = rf"(?:{any_of(MONTHS)})\b\.?"
_NTH = r"(?:ste|de|e|st|nd|rd|th)?\.?"
_YEARED = r"(?:,?\s*(?:19|20)\d\d\b)?"
_DATE_WORDS = re.compile(
    rf"\(\s?(?:{any_of(WEEKDAYS)})\.?\s?\)"
    rf"|\b(?:vandaag|morgen|vanavond|today|tomorrow|tonight)\b(?=,|\s(?:{any_of(FULL_WEEKDAYS)})\b|$)"
    rf"|\b(?:{any_of(WEEKDAYS)})\b\.?,?\s*(?=\d|{_MONTH}|,|om\b|at\b|\|)"
    rf"|\b\d{{1,2}}{_NTH}\s*(?:[-\u2013&]|t/m|tot|en|to|and)\s*\d{{1,2}}\s+{_MONTH}{_YEARED}"
    rf"|\b\d{{1,2}}{_NTH}\s*(?:of\s+)?{_MONTH}{_YEARED}"
    rf"|\b{_MONTH}\s*\d{{1,2}}(?:st|nd|rd|th)?\b(?!:\d)(?:\s*[-\u2013&]\s*\d{{1,2}}\b)?{_YEARED}"
    r"|\b\d{4}-\d\d-\d\d(?:T[\d:+Z.-]+)?|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d\d)\b|\b\d{1,2}/\d{1,2}\b"
    r"|\b[0-3]?\d\.[01]?\d\.(?=\s|$)"
    r"|\b\d{1,2}[:.]\d\d(?::\d\d)?(?:\s*(?:[ap]\.?m\b\.?|uur|u\b|h\b)|[ap]\b)?|\b\d{1,2}h(?:\d\d)?\b|\b\d{1,2}\s*(?:[ap]\.?m\b\.?|uur\b|u\b)"
    r"|^[0-3]\d-[01]\d(?=\s)|^\d{1,2}(?::\d\d)?[ap]\b|\ball[- ]day\b(?!\s+\w)|\b(?:de )?(?:hele|gehele) dag\b(?!\s+\w)",
    re.IGNORECASE,
)
_JOINING = r"à|um|ab|a las|om|van|vanaf|tot|at|from|to|on|op|t/m|until|for|aanvang|zaal open"
_LABELLING = r"datum|date|tijd|time|when|wanneer|inloop|starts?|vertrek"
"""Words before a date or an hour that are its label where they stand apart, and else may end a title."""
_ASKING = (
    r"\b(?:what|wat|meeting|subject|onderwerp|name|naam|event|evenement|activiteit|activity|title|titel|next meeting"
    r"|volgende vergadering)\b"
)
"""Labels of the title itself."""
_EDGES = re.compile(
    rf"^(?:[\s\-\u2013\u2014|,;:•·@/()\[\]>»'\u2019]|{_ASKING}\s*:|\b(?:{_LABELLING})\s*:)+"
    r"|[\s\-\u2013\u2014|,;:•·@/(\[>»]+$",
    re.IGNORECASE,
)
_AFTER_DATE = re.compile(
    rf"^(?:[\s\-\u2013\u2014|,;:•·@/()\[\]>»'\u2019]|\b(?:{_JOINING}|{_LABELLING})\b\s*:?)+", re.IGNORECASE
)
_BEFORE_DATE = re.compile(
    rf"(?:[\s\-\u2013\u2014|,;:•·@/(\[>»]|\b(?:{_JOINING})\b\s*:?|(?:^|(?<=[,;|(\u2013.-]\s))(?:{_LABELLING})"
    rf"|\b(?:{_LABELLING})\s*:)+$",
    re.IGNORECASE,
)
_LOOSE_END = re.compile(
    rf"\s*\([^()]*$|\s*\(\s*\)$|\.(?:pdf|docx?)$|(?:^|(?<=[^\w\s])|(?<=\bon)|(?<=\bop))\s*(?:{any_of(FULL_WEEKDAYS)})$",
    re.IGNORECASE,
)
"""What a date leaves behind at the end: half of what it was in brackets with, a file's name, a weekday by itself."""
_ENDINGS = ("day", "dag", "pdf", "doc", "docx")
_PAPERS = (
    r"(?:(?:meeting|draft|final|view|download|special|regular) )*(?:agenda|minutes|notulen|packet|materials?|documents?"
    r"|video|recording|livestream|transcript|presentation|handouts?|audio|notice|summary)s?(?: \(.*| pdf)?"
)
_OBJECTS = (
    r"meer|more|verder|now|nu|hier|here|details?|all|alle|full|map|kaart|on (?:a |the )?map|op (?:de )?kaart"
    r"|this|deze|dit|(?:(?:the|de|het|our|onze) )?(?:video|recording|live\w*|agenda|minutes|event|evenement|meeting)"
    r"|calendar|kalender|info\w*|zoom|webex|teams|online|via|by|webcast|broadcast|website"
)
"""What a link offers to show; `Show Boat` is a title."""
_ACTIONS = (
    rf"(?:lees|read|view|show|bekijk|toon|see|watch|join|meer|more|learn)(?: (?:{_OBJECTS})\b.*)?"
    r"|(?:koop|bestel|reserveer|reserveren|export|voeg toe)\b.*"
    r"|(?:meer|more|further) (?:info\w*|details|lezen|weten)|.*add to.*calendar.*|.*google calendar.*|link(?: to .*)?"
)
ROLES = (
    r"voorgangers?|spreker|docent|organist|organisatie|organisator|regie|prijs|kosten|entree|toegang|contact|telefoon|tel"
    r"|e-?mail|leeftijd|genre|duur|speaker|instructor|organi[sz]er|cost|price|admission|phone|ages?|host|duration"
)
"""Labels of what belongs to an event without being its name."""
_FURNITURE = (
    r"(?:please )?(?:view|download|select|choose|make|click)(?:\W\w+)* (?:below|above|selection|here)(?: \(\w+\))?|"
    r"info(?:rmatie)?|details?|pdf|html?|word|excel|mp[34]|docx?|rss|download|tickets?|kaarten|aanmelden"
    r"|inschrijven|sign up|register|rsvp|ical|ics|map"
    r"|kaart|route|share|deel|delen|facebook|twitter|zoom|webex|click here|klik hier|hier|here|website|www\..*|.*https?://.*"
    r"|\S+@\S+|terug|back|volgende|vorige|next|previous|sluiten|close|print|home"
    r"|(?:locatie|location|waar|where|datum|date|tijd|time)\s*:.*|(?:geplaatst|gepubliceerd|posted|published|updated)\b.*"
    r"|(?:(?:via|by|on|per) )?(?:zoom|webex|(?:microsoft )?teams|video ?conference|online|virtual(?:ly)?|hybrid"
    rf"|in[- ]person)(?: (?:meeting|only|event))?|(?:{ROLES})s?\s*(?::.*)?"
)
_STATUS = (
    r"\(?(?:cancell?ed|geannuleerd|afgelast|vervalt|postponed|rescheduled|uitgesteld|verplaatst|sold out|uitverkocht"
    r"|gratis|free|new|nieuw|(?:pdf|docx?)\b.{0,20})[)!.]*"
)
_NOTHING = (
    r"(?:no|geen) (?:\w+ ){0,3}(?:meetings?|events?|activities|shows?|classes|vergadering(?:en)?|evenementen"
    r"|activiteiten|voorstellingen|programma)(?: \w+){0,3}\.?"
)
_PEOPLE = (
    r"(?:(?:the|our|current|former|board|committee|commission|council|voting|onze) )*"
    r"(?:members(?:hip)?(?: roster)?|staff|roster|leden|bestuursleden|mitglieder|contacts?(?: us| info\w*)?)"
)
_SENTENCE = (
    r".*\b(?:are|is|zijn|wordt|worden) (?:\w+ ){0,2}(?:live ?streamed|held|open|recorded|posted|available"
    r"|published|broadcast"
    r"|televised|subject|required|welcome|gehouden|openbaar|beschikbaar|uitgezonden)\b.*"
)
"""A section about people, and a sentence about all meetings."""
_OF_ALL = r"(?:all|alle) (?:\w+ )?(?:meetings|hearings|vergaderingen|bijeenkomsten)\b.*"
"""How a day says that it has none, and a page what holds for all."""
_LABELS = re.compile(
    rf"(?:{_ACTIONS}|{_PAPERS}|{_FURNITURE}|{_STATUS}|{_NOTHING}|{_OF_ALL}|{_PEOPLE}|{_SENTENCE}|\W*)", re.IGNORECASE
)
_GENERIC_WORDS = (
    "agenda agendas minutes minute meeting meetings schedule schedules date dates upcoming past previous event events "
    "calendar kalender archive archief and of the for materials documents vergadering vergaderingen evenementen "
    "evenement activiteiten data programma program programme en de het van overzicht overview list lijst alle all our "
    "onze what's on wat is er te doen uitagenda concertagenda archives recent next coming future current year month "
    "week today public notices notice time times location regular special information info wanneer waar when where "
    "tijd datum locatie komende aankomende nieuws news home search filter est edt cst cdt pst pdt et ct pt start "
    "starts end ends begin einde eind results resultaten meer more view details page pagina transcripts now nu vandaag "
    "morgen tomorrow tonight vanavond weekend this deze dit later summary summaries tentative video videos audio "
    "recording recordings packet packets download downloads pdf doc draft final approved remaining photo photos "
    "gallery link links click here attachment attachments presentation presentations report reports file files "
    "document amended register html zip mp3 mp4 ics ical word"
)
_GENERIC = frozenset((*_GENERIC_WORDS.split(), *MONTHS, *FULL_WEEKDAYS))
"""Words that stand over any agenda; a heading of nothing else names no event."""
_SORT = re.compile(
    r"(?:regular|special|emergency|public|business|monthly|quarterly|annual|joint|closed|besloten|openbare|extra|reguliere|gewone)"
    r"(?: \w+)? (?:meeting|session|hearing|workshop|retreat|vergadering|zitting|bijeenkomst)(?:s|en)?|(?:work"
    r"|study) sessions?",
    re.IGNORECASE,
)
_YEAR_AT_EDGE = re.compile(r"^(?:19|20)\d\d\b|\b(?:19|20)\d\d$")
_PAPERWORK = re.compile(
    r"(?:[\s,&/-]*(?:\b(?:and|en)\b\s*)?\b(?:agendas?|minutes|notulen|schedules?|dates|archives?|packets?|documents?)\b)+$",
    re.IGNORECASE,
)
RECURS = re.compile(r"\b(?:every|each|elke|iedere|jeden|chaque|cada|ogni)\b", re.IGNORECASE)
"""How a text says that something is held again and again."""
_LEADING_NUMBER = re.compile(r"^\d{1,2}(?![:.]\d)(?:st|nd|rd|th|e)?\b[\s:\u2013\u2014|-]*")
_WORD = re.compile(r"[^\W\d_][\w'\u2019&-]*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_A_WORD = re.compile(r"[^\W\d_](?:[\W\d_]*[^\W\d_]){2}")
"""Three letters, whatever stands between them."""
_ORNAMENTS = " \u25bc\u25be\u25b8\u25ba\u25b6\u2193\u2192\u2197\u00bb\u203a\u2026+\u2b07"
"""Arrows and the like that stand on buttons."""
_NUMBERED = re.compile(r"^\d{1,2}\s*[-\u2013:]\s+(?=[nN]o\b|[gG]een\b)")
_LONGEST_TITLE = 180
_LONGEST_READ = 600


@lru_cache(maxsize=4_096)
def without_dates(text: str) -> str:
    """A text without its dates, times and what joined them; '' when less than a word is left.

    Of a long text only the beginning counts: a title does not stand at its end.
    """
    rest = " ".join(_pieces(text))
    return rest if _A_WORD.search(rest) else ""


def parts_of(text: str) -> tuple[str, ...]:
    """What stands before, between and after the dates and times of a text, as far as it has words."""
    return tuple(piece for piece in _pieces(text) if _A_WORD.search(piece))


@lru_cache(maxsize=4_096)
def _pieces(text: str) -> tuple[str, ...]:
    """What a text says around its dates; only beside a date are `van`, `at` and the like no part of it."""
    text = text[:_LONGEST_READ]
    pieces, reached = [], 0
    for match in _DATE_WORDS.finditer(in_known_words(text)):
        pieces.append(text[reached : match.start()])
        reached = match.end()
        while reached < len(text) and text[reached].isalpha() and text[reached - 1].isalpha():
            reached += 1  # the rest of a longer word of another language
    pieces.append(text[reached:])
    last = len(pieces) - 1
    tidied = (_tidy(one, after=place > 0, before=place < last) for place, one in enumerate(pieces))
    return tuple(filter(None, tidied))


def _tidy(rest: str, *, after: bool = False, before: bool = False) -> str:
    """A piece of text without what joined it to the date that it stood after or before."""
    if after:
        rest = _AFTER_DATE.sub("", rest)
    if before:
        rest = _BEFORE_DATE.sub("", rest)
    rest = _EDGES.sub("", rest)
    if rest.endswith(")") and "(" not in rest:
        rest = rest[:-1]
    if "(" in rest or rest.endswith(_ENDINGS):
        rest = _EDGES.sub("", _LOOSE_END.sub("", rest))
    return " ".join(rest.split())


@lru_cache(maxsize=4_096)
def is_title(text: str) -> bool:
    """Whether words can be the name of an event: not a link's label, not a label of the page's furniture."""
    bare = _NUMBERED.sub("", text.strip(_ORNAMENTS))
    return bool(bare) and len(bare) <= _LONGEST_TITLE and _LABELS.fullmatch(bare) is None and not is_generic(bare)


_WILL_MEET = re.compile(
    r"(?:(?:[A-Z][A-Za-z]+ ){1,2}(?:[A-Za-z]+ ){0,2}(?:GIVEN|given|NOTICE|notice) (?:THAT|that) )?(?:[Tt]he )?"
    r"(?P<who>[A-Z][^.!?:]{3,110}?) (?:will|shall|is scheduled to|are scheduled to"
    r"|is going to) (?:meet|convene|gather|hold an? |conduct an? )\b.*"
    r"|(?:[Dd]e |[Hh]et )?(?P<who2>[A-Z][^.!?:]{3,110}?) (?:komt bijeen|vergadert)\b.*",
)


def is_generic(text: str) -> bool:
    """Whether all words are of the kind that stand over any agenda."""
    return all(word.lower().removesuffix("'s").removesuffix("\u2019s") in _GENERIC for word in _WORD.findall(text))


_NO_BODY = frozenset(
    {"board", "council", "committee", "commission", "raad", "bestuur", "commissie", "conseil", "directors", "trustees"}
)


def names_no_body(title: str) -> bool:
    """Whether a title says that a board or the like meets, and not whose: `Special Board Meeting`."""
    found = [word.lower() for word in _WORD.findall(title)]
    return any(word in _NO_BODY for word in found) and all(word in _NO_BODY or word in _GENERIC for word in found)


def title_names_members(title: str) -> bool:
    """Whether a title says who sits on a board: `Board of Directors`."""
    return " of " in title.casefold()


def title_from(text: str) -> str:
    """The title in a text: its first words beside dates and times that can be one; '' if there are none."""
    text = text.strip(_ORNAMENTS)
    return who_meets(next((part for part in (*parts_of(text), without_dates(text)) if is_title(part)), ""))


def who_meets(title: str) -> str:
    """Whose meeting a sentence announces (`The Parks Board will meet at`); any other title as it is."""
    match = _WILL_MEET.match(title)
    return match["who"] or match["who2"] if match else title


def who_is_announced(sentence: str) -> str:
    """Whose meeting a sentence announces before its date; '' where it announces none."""
    match = next((match for part in parts_of(sentence)[:1] if (match := _WILL_MEET.match(part))), None)
    return (match["who"] or match["who2"]) if match else ""


def kind_of_meeting(lines: Sequence[str]) -> str:
    """What sort of meeting a block names where it does not say whose: `Regular meeting`; '' if it names none."""
    parts = (_PAPERWORK.sub("", part) for line in lines for part in parts_of(line))
    return next((part for part in parts if _SORT.fullmatch(part)), "")


@lru_cache(maxsize=4_096)
def without_paperwork(heading: str) -> str:
    """A heading without the year and the papers that are listed under it: `Council agendas and minutes 2026`."""
    bare = _tidy(_PAPERWORK.sub("", _tidy(_YEAR_AT_EDGE.sub(" ", heading))))
    return bare if _A_WORD.search(bare) and is_title(bare) else _tidy(heading)


def unnumbered(text: str) -> str:
    """A line under the name of a month without the day's number that it begins with."""
    return _LEADING_NUMBER.sub("", text)


def years_in(text: str) -> set[int]:
    """The years that a heading names."""
    return {int(year) for year in _YEAR.findall(text)}
