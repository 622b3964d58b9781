"""Words that name a place: a room, a street, a building, and where a sentence says that people gather."""

import re
from functools import lru_cache

from tidemill.reading.moments.words import FULL_WEEKDAYS, MONTHS, any_of

_PLACE_WORDS = re.compile(
    r"\b(?:foyer|lobby|rooms?|suite|floor|hall|building|auditorium|chambers?|library|courthouse|gemeentehuis|stadhuis"
    r"|bibliotheek|buurthuis|dorpshuis|cent(?:er|re|rum)|rathaus|salle|église|mairie|médiathèque|bibliothèque|rue"
    r"|place d\w+|plaza|calle|teatro|biblioteca|ayuntamiento|iglesia|piazza|sala|palazzo|street|st\.|ave(?:nue)?|blvd"
    r"|road|rd\.)\b"
    r"|(?:kamer|zaal|platz|halle|saal|haus|kirche|straße|strasse|bücherei|bibliothek|plein|(?<=\w)(?:straat|weg|laan))\b"
    r"|\b\d{4}\s?(?-i:[A-Z]{2})\b",
    re.IGNORECASE,
)
GATHERS = (
    r"(?:meet(?:s|ings?)?|held|convenes?|hearings?|sessions?|take place|takes place|gather\w*|vergader\w*"
    r"|bijeenkomst\w*|bijeen|komen samen|repetities?|sitzung\w*|réunions?|reuniones)"
)
CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?\s?m\b\.?|uur\b|uhr\b)|\d{1,2}:\d\d\b|noon\b)"
_GATHERING = re.compile(
    rf"\b(?:{GATHERS}|located|lessen|lessons|classes|inloop\w*|cursus\w*|uur(?= (?:in|bij|op)\b))\b", re.IGNORECASE
)
_AT = re.compile(
    r"\b(?:at|in|on)\s+(?:our\s+|the\s+)?(?=[A-Z\d])"
    r"|\b(?:in|bij|te|op)\s+(?:(?:het|de)\s+)?(?=(?:\w*(?:gebouw|huis|zaal|centrum|kerk|school|hal|kamer|locatie),?\s+)?(?-i:[A-Z\d]))"
    r"|(?<=[ap]m), (?=[A-Z])|(?<=[ap]\.m\.), (?=[A-Z])|(?<=\duur), (?=[A-Z])|(?<=\d uur), (?=[A-Z])"
)
_REACH, _LONGEST_PLACE = 260, 160
_TELEPHONE = re.compile(r"\(?\d{3}\)?[-. ]\d{3}")
_AN_HOUR = re.compile(rf"{CLOCK}", re.IGNORECASE)
_PLACE_ENDS = re.compile(
    r"(?<=[a-z\d)]{3})\.(?:\s|$)|\s+(?:at|on|from|beginning|starting|every|unless|and will|,?\s*(?:at )?\d{1,2}:\d\d)\b"
    r"|,?\s+\d{1,2}(?::\d\d)?\s*[ap]\.?m\b"
)
_NAMED = re.compile(
    r"(?:[A-Z][\w.'\u2019-]*,? ){1,6}(?:Office|Church|School|Museum|Park|Theat(?:er|re)|Arena|Stadium|Gym(?:nasium)?"
    r"|Clubhouse|Temple"
    r"|Hotel|Plaza|Pavilion|Station|House|Lodge|Barn|College|University|Campus|Annex|Complex|Headquarters|Garage"
    r"|Inn|Tavern|Restaurant|Brewery|Pub|Diner|Grange|Firehouse|Depot|Kerk|Kantoor|Sporthal|Caf\u00e9|Schouwburg|Museum)s?\b"
)
"""A building by its name, behind `at` in a sentence about gathering."""
_A_DAY = re.compile(rf"(?:{any_of({*FULL_WEEKDAYS, *MONTHS})})\b", re.IGNORECASE)
_NO_PLACE = re.compile(
    rf"^{_A_DAY.pattern}|\b(?:{any_of(MONTHS)})\b\.?,?\s*\d|;|\b(?:authoriz|declar|establish)ing\b", re.IGNORECASE
)
"""What is not told of where people meet: a day, the rest of a resolution."""
_ENDS_IN_PLACE = re.compile(
    r"(?:(?:[A-Z\d][\w.'\u2019&-]*|[Tt]he|[Oo]f|de|het|van),? ){0,5}?"
    r"(?:[Rr]ooms?|[Hh]all|Chambers?|Building|Auditorium|Library|Lobby|Foyer|Square|Plaza|Park|Field|Church|School"
    r"|Museum|Theat(?:er|re)|Gardens?|Stadium|Arena|Pavilion|Cent(?:er|re)|Gym(?:nasium)?|Courthouse|Street|Avenue|Terrace"
    r"|Annex|Campus|Inn|Tavern|Restaurant|Brewery|Suite|Floor|Hotel|Lodge|Barn|Mill|Depot|Station"
    r"|Chapel|Temple|Offices?|Quad|Pier|Harbou?r|Clubhouse|Lounge|Gallery|Loft|Ballroom|Cafeteria"
    r"|\w*[Zz]aal|\w*[Pp]lein|\w*[Kk]erk|\w*[Hh]uis|\w*hal|\w*[Cc]entrum|\w*[Pp]ark|\w*[Ss]chool|\w*[Tt]heater|\w*[Kk]antine"
    r"|\w*[Ss]chouwburg|\w*[Kk]apel|\w*gebouw|\w*haus|\w*halle|\w*saal|\w*platz|\w*kirche"
    r"|\w*schule)(?: (?:\d\w{0,4}|[A-Z]))?"
    r"|(?:Salle|Place|\u00c9glise|Mairie|M\u00e9diath\u00e8que|Biblioth\u00e8que|Biblioteca|Piazza|Plaza|Palazzo|Iglesia|Chiesa"
    r"|Ayuntamiento|Rathaus|Stadthalle)(?: [\w'\u2019-]+){0,4}"
    r"|(?:[A-Z][\w'\u2019-]* )?(?:Caf\u00e9|Restaurant|Hotel|Theater|Museum|Kasteel|De|Het|'t|St\.?|Sint)"
    r"(?: [A-Z][\w'\u2019-]*){1,3}(?<!\bDe)"
)
"""A place and nothing else, by its last word: `Main Hall`, `Room 3`, `Depot Square`."""
_AT_THE_END = re.compile(
    r"^(?P<title>.{3,}?)\s*(?:\((?P<inside>[^()]{3,60})\)|\s[\u2013\u2014@|-]\s(?P<behind>[^\u2013\u2014@|]{3,60})"
    r"|,\s(?:we\s)?(?:meet(?:ing)?|gather(?:ing)?|verzamelen|treffpunkt:?)\s(?:at|in|bij|op)\s(?P<meeting>[^,]{3,60}))$"
)


_STREET = re.compile(
    r"\d{1,5} (?:[A-Z0-9][\w.'\u2019]* ){1,4}(?:St(?:reet)?|Ave(?:nue)?|Blvd|Boulevard|R(?:oa)?d|Dr(?:ive)?|Lane|Ln|Way"
    r"|Sq(?:uare)?|Plaza|P(?:ar)?kwy|C(?:our)?t|Highway|Hwy|Circle|Terrace|Place|Pl)\b\.?"
    r"|[A-Z][\w'\u2019-]*(?:straat|laan|weg|plein|kade|gracht|singel|dijk|steeg|pad|stra\u00dfe|strasse|platz"
    r"|gasse) \d{1,4}\b"
    r"|\d{1,4},? (?:rue|avenue|place|boulevard|all\u00e9e|quai) (?:d[eu]|de la|des|[A-Z])|(?:Via|Piazza|Viale"
    r"|Calle|Plaza|Avenida) [A-Z]"
)


ONLINE_PLACE = re.compile(
    r"(?:(?:via|by|online|virtual(?:ly)?|remote(?:ly)?|live)\b[\s:(,-]*)*(?:on |via |by )?"
    r"(?:video ?-?conference|tele-?conference|conference call|zoom|webex|microsoft teams|ms teams|go ?to ?meeting"
    r"|livestream|online|virtual(?:ly)?|remote(?:ly)?)\b(?! (?:\w+ ){0,2}(?:class|workshop|tour|course|training|forum"
    r"|lecture|concert|program|storytime|session|event|town hall|hearing|meeting|open house))",
    re.IGNORECASE,
)
"""How a line begins that says that people meet by a screen, and not what for."""


def is_address(line: str) -> bool:
    """Whether a line is a name and a street with its number, and no sentence: `The Mill, 900 Pine St, Columbus`."""
    return _STREET.search(line) is not None and line[-1:] not in ".!?:" and _NO_PLACE.search(line) is None


@lru_cache(maxsize=4_096)
def looks_like_place(text: str) -> bool:
    """Whether words name a place rather than an event: a room, a street, a town's hall."""
    return _PLACE_WORDS.search(text) is not None


def is_place(text: str) -> bool:
    """Whether words are the name of a place and nothing else."""
    return _ENDS_IN_PLACE.fullmatch(text) is not None


def title_and_place(title: str) -> tuple[str, str]:
    """A title without the place that stands in brackets or behind a dash at its end, and that place."""
    if title.count(" | ") == 1:
        one, other = title.split(" | ")
        if _holds_place(one) != _holds_place(other):
            return (other, one) if _holds_place(one) else (one, other)
    match = _AT_THE_END.match(title)
    if match is None:
        return title, ""
    inside, behind = match["inside"], match["behind"]
    if match["meeting"]:
        return match["title"], match["meeting"].removeprefix("the ").strip()
    is_one = looks_like_place(inside) if inside else is_place(behind.strip())
    return (match["title"], (inside or behind).strip()) if is_one else (title, "")


def _holds_place(part: str) -> bool:
    return is_place(part) or is_place(part.partition(",")[0]) or is_address(part)


def place_in_sentence(text: str) -> str:
    """The first words behind `at` or `in`, in a sentence about gathering, that name a place."""
    gathering = _GATHERING.search(text)
    if gathering is None:
        return ""
    near = text[gathering.end() : gathering.end() + _REACH]
    for match in _AT.finditer(near):
        place = _PLACE_ENDS.split(near[match.end() : match.end() + _LONGEST_PLACE], maxsplit=1)[0].strip(" ,.")
        named = looks_like_place(place) or _NAMED.match(place) is not None
        if named and not _AN_HOUR.match(place) and not _TELEPHONE.match(place) and not _NO_PLACE.search(place):
            return place
    return ""
