"""Words on a page that are a title, and words that only look like one."""

import re

from tidemill.reading.moments.words import MONTHS, WEEKDAYS, any_of

_DATE_WORDS = re.compile(
    rf"\b(?:{any_of(WEEKDAYS)})\b\.?,?\s*(?=\d|(?:{any_of(MONTHS)})\b|,|$|om\b|at\b|\|)"
    rf"|\b\d{{1,2}}(?:ste|de|e|st|nd|rd|th)?\.?\s*(?:[-–&]|t/m|tot|en|to|and)\s*\d{{1,2}}\s+(?:{any_of(MONTHS)})\b\.?(?:,?\s*(?:19|20)\d\d\b)?"
    rf"|\b\d{{1,2}}(?:ste|de|e|st|nd|rd|th)?\.?\s*(?:of\s+)?(?:{any_of(MONTHS)})\b\.?(?:,?\s*(?:19|20)\d\d\b)?"
    rf"|\b(?:{any_of(MONTHS)})\b\.?\s*\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:\s*[-–&]\s*\d{{1,2}}\b)?(?:,?\s*(?:19|20)\d\d\b)?"
    r"|\b\d{4}-\d\d-\d\d(?:T[\d:+Z.-]+)?|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d\d)\b|\b\d{1,2}/\d{1,2}\b"
    r"|\b\d{1,2}[:.]\d\d(?::\d\d)?\s*(?:[ap]\.?m\b\.?|uur|u\b|h\b)?|\b\d{1,2}\s*(?:[ap]\.?m\b\.?|uur\b|u\b)",
    re.IGNORECASE,
)
_JOINTS = re.compile(
    r"^(?:[\s\-–—|,;:•·@/()\[\]>»'’]|\b(?:om|van|tot|at|from|to|on|op|t/m|t\.m\.|until|datum|date|tijd|time|when|wanneer)\b\s*:?)+"
    r"|(?:[\s\-–—|,;:•·@/(\[>»]|\b(?:om|van|tot|at|from|to|on|op|t/m|until|datum|date|tijd|time|when|wanneer|for)\b\s*:?)+$",
    re.IGNORECASE,
)
_LINKS = re.compile(
    r"(?:(?:lees|read|view|show|bekijk|toon|see|meer|more|learn)\b.*|(?:meer|more|further) (?:info\w*|details|lezen|weten)|info(?:rmatie)?|details?"
    r"|(?:meeting |draft |final |view |download |special |regular )*(?:agenda|minutes|notulen|packet|materials?|documents?|video|recording|livestream|"
    r"transcript|presentation|handouts?|audio|notice|summary)s?(?: \(?pdf\)?)?|pdf|download|tickets?|koop.*|bestel.*|reserve(?:er|ren).*|kaarten|"
    r"aanmelden|inschrijven|sign up|register|rsvp|ical|ics|export.*|.*add to.*calendar.*|.*google calendar.*|voeg toe.*|map|kaart|route|share|deel|"
    r"delen|facebook|twitter|zoom|webex|link(?: to .*)?|click here|klik hier|hier|here|website|www\..*|https?:.*|\S+@\S+|terug|back|volgende|vorige|"
    r"next|previous|sluiten|close|print|home|\W*)",
    re.IGNORECASE,
)
_GENERIC = frozenset(
    "agenda agendas minutes minute meeting meetings schedule schedules date dates upcoming past previous event events calendar "
    "kalender archive archief and of the for & - – / materials documents vergadering vergaderingen evenementen evenement activiteiten "
    "data programma program programme en de het van overzicht overview list lijst alle all our onze what's on wat is er te doen "
    "uitagenda concertagenda archives recent next coming future current year month week today public notices notice time times location "
    "regular special information info wanneer waar when where tijd datum locatie komende aankomende nieuws news home search filter "
    "results resultaten meer more view details page pagina upcoming: transcripts".split()
)
_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LETTERS = 3
_LONGEST_TITLE = 180


def stripped(text: str) -> str:
    """A text without its dates, times and what joined them; '' when less than a word is left."""
    rest = _DATE_WORDS.sub(" ", text)
    previous = None
    while previous != rest:
        previous, rest = rest, _JOINTS.sub("", rest).strip()
    rest = " ".join(rest.split())
    return rest if sum(character.isalpha() for character in rest) >= _LETTERS else ""


def is_title(text: str) -> bool:
    """Whether words can be the name of an event: not a link's label, not a label of the page's furniture."""
    return bool(text) and len(text) <= _LONGEST_TITLE and _LINKS.fullmatch(text) is None and not is_generic(text)


def is_generic(text: str) -> bool:
    """Whether all words are of the kind that stand over any agenda."""
    return all(word.lower() in _GENERIC for word in _WORD.findall(text))


def title_from(text: str) -> str:
    """The title in a text, its dates taken out; '' if there is none."""
    title = stripped(text)
    return title if is_title(title) else ""


def years_in(text: str) -> set[int]:
    """The years that a heading names."""
    return {int(year) for year in _YEAR.findall(text)}
