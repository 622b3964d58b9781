"""Words on a page that are a title, and words that only look like one."""

import re
from functools import lru_cache

from tidemill.reading.moments.words import MONTHS, WEEKDAYS, any_of

_MONTH = rf"(?:{any_of(MONTHS)})\b\.?"
_NTH = r"(?:ste|de|e|st|nd|rd|th)?\.?"
_YEARED = r"(?:,?\s*(?:19|20)\d\d\b)?"
_DATE_WORDS = re.compile(
    rf"\b(?:{any_of(WEEKDAYS)})\b\.?,?\s*(?=\d|{_MONTH}|,|$|om\b|at\b|\|)"
    rf"|\b\d{{1,2}}{_NTH}\s*(?:[-\u2013&]|t/m|tot|en|to|and)\s*\d{{1,2}}\s+{_MONTH}{_YEARED}"
    rf"|\b\d{{1,2}}{_NTH}\s*(?:of\s+)?{_MONTH}{_YEARED}"
    rf"|\b{_MONTH}\s*\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:\s*[-\u2013&]\s*\d{{1,2}}\b)?{_YEARED}"
    r"|\b\d{4}-\d\d-\d\d(?:T[\d:+Z.-]+)?|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d\d)\b|\b\d{1,2}/\d{1,2}\b"
    r"|\b\d{1,2}[:.]\d\d(?::\d\d)?\s*(?:[ap]\.?m\b\.?|uur|u\b|h\b)?|\b\d{1,2}\s*(?:[ap]\.?m\b\.?|uur\b|u\b)",
    re.IGNORECASE,
)
_JOINING = (
    r"om|van|vanaf|tot|at|from|to|on|op|t/m|until|datum|date|tijd|time|when|wanneer|for|aanvang|inloop|zaal open"
    r"|starts?"
)
_JOINTS = re.compile(
    rf"^(?:[\s\-\u2013\u2014|,;:•·@/()\[\]>»'\u2019]|\b(?:{_JOINING})\b\s*:?)+"
    rf"|(?:[\s\-\u2013\u2014|,;:•·@/(\[>»]|\b(?:{_JOINING})\b\s*:?)+$",
    re.IGNORECASE,
)
_PAPERS = (
    r"(?:(?:meeting|draft|final|view|download|special|regular) )*(?:agenda|minutes|notulen|packet|materials?|documents?"
    r"|video|recording|livestream|transcript|presentation|handouts?|audio|notice|summary)s?(?: \(?pdf\)?)?"
)
_ACTIONS = (
    r"(?:lees|read|view|show|bekijk|toon|see|watch|join|meer|more|learn|koop|bestel|reserveer|reserveren|export)\b.*"
    r"|voeg toe\b.*"
    r"|(?:meer|more|further) (?:info\w*|details|lezen|weten)|.*add to.*calendar.*|.*google calendar.*|link(?: to .*)?"
)
_FURNITURE = (
    r"info(?:rmatie)?|details?|pdf|download|tickets?|kaarten|aanmelden|inschrijven|sign up|register|rsvp|ical|ics|map"
    r"|kaart|route|share|deel|delen|facebook|twitter|zoom|webex|click here|klik hier|hier|here|website|www\..*|.*https?://.*"
    r"|\S+@\S+|terug|back|volgende|vorige|next|previous|sluiten|close|print|home"
    r"|(?:locatie|location|waar|where|datum|date|tijd|time)\s*:.*"
)
_LABELS = re.compile(rf"(?:{_ACTIONS}|{_PAPERS}|{_FURNITURE}|\W*)", re.IGNORECASE)
_GENERIC = frozenset(
    (  # noqa: SIM905 - a list of words is read as a list of words
        "agenda agendas minutes minute meeting meetings schedule schedules date dates upcoming past previous event "
        "events calendar kalender archive archief and of the for materials documents vergadering vergaderingen "
        "evenementen evenement activiteiten data programma program programme en de het van overzicht overview list "
        "lijst alle all our onze what's on wat is er te doen uitagenda concertagenda archives recent next coming "
        "future current year month week today public notices notice time times location regular special information "
        "info wanneer waar when where tijd datum locatie komende aankomende nieuws news home search filter est edt "
        "cst cdt pst pdt et ct pt start starts end ends begin einde eind results resultaten meer more view details "
        "page pagina transcripts "
    ).split()
)
"""Words that stand over any agenda; a heading of nothing else names no event."""
_WORD = re.compile(r"[^\W\d_][\w'\u2019&-]*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LETTERS = 3
_LONGEST_TITLE = 180
_LONGEST_READ = 600


@lru_cache(maxsize=4_096)
def stripped(text: str) -> str:
    """A text without its dates, times and what joined them; '' when less than a word is left.

    Of a long text only the beginning counts: a title does not stand at its end.
    """
    return _tidy(_DATE_WORDS.sub(" ", text[:_LONGEST_READ]))


@lru_cache(maxsize=4_096)
def parts_of(text: str) -> tuple[str, ...]:
    """What stands before, between and after the dates and times of a text, as far as it has words."""
    return tuple(filter(None, map(_tidy, _DATE_WORDS.split(text[:_LONGEST_READ]))))


def _tidy(rest: str) -> str:
    previous = None
    while previous != rest:
        previous, rest = rest, _JOINTS.sub("", rest).strip()
    rest = " ".join(rest.split())
    return rest if sum(character.isalpha() for character in rest) >= _LETTERS else ""


@lru_cache(maxsize=4_096)
def is_title(text: str) -> bool:
    """Whether words can be the name of an event: not a link's label, not a label of the page's furniture."""
    return bool(text) and len(text) <= _LONGEST_TITLE and _LABELS.fullmatch(text) is None and not is_generic(text)


def is_generic(text: str) -> bool:
    """Whether all words are of the kind that stand over any agenda."""
    return all(word.lower() in _GENERIC for word in _WORD.findall(text))


def title_from(text: str) -> str:
    """The title in a text: its first words beside dates and times that can be one; '' if there are none."""
    return next((part for part in (*parts_of(text), stripped(text)) if is_title(part)), "")


def years_in(text: str) -> set[int]:
    """The years that a heading names."""
    return {int(year) for year in _YEAR.findall(text)}
