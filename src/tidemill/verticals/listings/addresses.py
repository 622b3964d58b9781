"""Addresses in one spelling, so that two sites' words for the same door compare equal."""

import re

import msgspec

from tidemill.core.identity import normalized
from tidemill.verticals.listings.market import STATES as MARKET_STATES

_SUFFIXES = {
    "street": "st", "str": "st", "avenue": "ave", "av": "ave", "boulevard": "blvd", "boul": "blvd", "road": "rd",
    "drive": "dr", "lane": "ln", "court": "ct", "place": "pl", "square": "sq", "terrace": "ter", "terr": "ter",
    "parkway": "pkwy", "highway": "hwy", "circle": "cir", "turnpike": "tpke", "expressway": "expy", "alley": "aly",
    "plaza": "plz", "crescent": "cres", "heights": "hts", "point": "pt", "mount": "mt", "saint": "st",
    "fort": "ft", "junction": "jct", "walk": "walk", "way": "way", "wharf": "whf",
}  # fmt: skip
_DIRECTIONS = {
    "north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
    "southwest": "sw",
}  # fmt: skip
_ORDINALS = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th",
    "seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th",
}  # fmt: skip
STATES = frozenset(map(str.lower, MARKET_STATES))
"""The two-letter codes that a market's state may have, as addresses compare them."""

_ENDS_OF_STREETS = frozenset({"ct", "ne"})
"""Codes of states that are courts or directions at the end of a street."""

_UNIT = re.compile(
    r"(?:[,\s]+(?:apt|apartment|unit|suite|ste|rm|room|no|floor|fl|ph)\b\.?\s*#?|[,\s]*#)\s*(?P<unit>[\w-]{1,8})\b(?=\s*(?:,|$))",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:(?:^|,)\s*(?P<city>[^,\d][^,]{1,60}?))?[,\s]+(?P<state>[A-Za-z]{2})\.?(?:[\s,]+(?P<zip>\d{5})(?:-\d{4})?)?"
    r"(?:,\s*(?:[Uu][Ss][Aa]?|[Uu]nited [Ss]tates))?\s*$"
)
_ZIP = re.compile(r"(?<!\d)(\d{5})(?:-\d{4})?\s*$")
_CONTINENTAL = re.compile(
    r"(?P<street>[^\d,]{2,80}?)\s+(?P<number>\d{1,5}\s?[A-Za-z]?(?:\s?[-/]\s?\d{1,5})?)(?:[\s,]+(?P<unit>[^,\d][^,]{0,20}))?"
    r"\s*,\s*(?P<code>\d{4}\s?[A-Z]{2}|\d{4,5})\s+(?P<city>[^,\d]{2,60}?)\s*(?:,[^,\d]{2,40})?"
)
"""The door behind its street, and the postal code before its town: `Hauptstraße 12a, 10115 Berlin`."""
_FRENCH = re.compile(r"(?P<door>\d[^,]{2,100}?)\s*,\s*(?P<code>\d{5})\s+(?P<city>[^,\d]{2,60}?)\s*(?:,[^,\d]{2,40})?")
"""The door as in English, and the postal code before its town: `12 rue de Rivoli, 75001 Paris`."""
_BRITISH = re.compile(
    r"(?P<line>.{3,200}?)[\s,]+(?P<code>[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})(?:,\s*(?:UK|United Kingdom|England))?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^(?P<number>\d+(?:-\d+)?[a-z]?)\s+(?P<street>.+)$")
_NOT_A_LETTER = re.compile(r"[^\w\s-]")
_LONGEST = 300


class PostalAddress(msgspec.Struct, frozen=True, kw_only=True):
    """An address in its parts, in lower case and usual abbreviations; what is not told is empty."""

    number: str = ""
    street: str = ""
    unit: str = ""
    city: str = ""
    state: str = ""
    postal_code: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it names a door: a number and a street, in a town or under a postal code."""
        return bool(self.number and self.street and (self.city or self.postal_code))

    @property
    def door(self) -> str:
        """The number and the street."""
        return f"{self.number} {self.street}".strip()


def read_address(text: str, *, unit: str = "", city: str = "", state: str = "", postal_code: str = "") -> PostalAddress:
    """The parts of an address; what the page tells apart goes before what its one line says.

    >>> read_address("350 West 42nd Street Apt. 4-B, New York, NY 10036").unit
    '4b'
    """
    line = " ".join(text[:_LONGEST].split())
    if abroad := _abroad(line, unit=unit, city=city):
        return abroad
    tail = _TAIL.search(line)
    if tail is not None and _names_a_state(tail, state):
        city, state = city or tail["city"] or "", state or tail["state"]
        postal_code = postal_code or tail["zip"] or ""
        line = line[: tail.start()]
    elif ending := _ZIP.search(line):
        postal_code, line = postal_code or ending[1], line[: ending.start()].rstrip(" ,")
    line, own_unit = _without_unit(_without_city(line, city))
    door = _NUMBER.match(street_words(line.partition(",")[0]))
    return PostalAddress(
        number=door["number"] if door else "",
        street=door["street"] if door else street_words(line),
        unit=unit_words(unit or own_unit),
        city=normalized(city),
        state=state.strip().lower()[:2] if len(state.strip()) == 2 else "",  # noqa: PLR2004 - a code, not a name
        postal_code=zip_code(postal_code),
    )


def _abroad(line: str, *, unit: str, city: str) -> PostalAddress | None:
    """The parts of an address in the form of the continent, or of Britain; None for one of another form."""
    if found := _CONTINENTAL.fullmatch(line):
        return PostalAddress(
            number=re.sub(r"\s", "", found["number"].lower()), street=street_words(found["street"]),
            unit=unit_words(unit or found["unit"] or ""), city=normalized(city or found["city"]),
            postal_code=found["code"].replace(" ", "").lower(),
        )  # fmt: skip
    if found := _FRENCH.fullmatch(line):
        door = _NUMBER.match(street_words(found["door"]))
        return PostalAddress(
            number=door["number"] if door else "", street=door["street"] if door else street_words(found["door"]),
            unit=unit_words(unit), city=normalized(city or found["city"]), postal_code=found["code"],
        )  # fmt: skip
    if found := _BRITISH.fullmatch(line):
        front, _, town = found["line"].rpartition(",")
        door = _NUMBER.match(street_words((front or found["line"]).rpartition(",")[2] or front))
        return PostalAddress(
            number=door["number"] if door else "", street=door["street"] if door else street_words(front),
            unit=unit_words(unit), city=normalized(city or (town if front else "")),
            postal_code=found["code"].replace(" ", "").lower(),
        )  # fmt: skip
    return None


def _names_a_state(tail: re.Match[str], known: str) -> bool:
    """Whether an address ends in its state: the `Ct` of a court and the `NE` of a street's end are none.

    They are told apart by a comma or a postal code, and by the state that the page tells by itself.
    """
    code = tail["state"].lower()
    if code not in STATES:
        return False
    stands_apart = tail["zip"] or tail["city"] or tail[0].startswith(",")
    return bool(stands_apart) or (code not in _ENDS_OF_STREETS and known.strip().lower() in {"", code})


def street_words(text: str) -> str:
    """A street in its usual abbreviations."""
    words = _NOT_A_LETTER.sub(" ", normalized(text)).split()
    return " ".join(_short(word) for word in words)


def unit_words(text: str) -> str:
    """A unit without what it is called: `Apt. 4-B`, `#4B` and `Unit 4b` are all `4b`."""
    bare = re.sub(
        r"^(?:apt|apartment|unit|suite|ste|rm|room|no|floor|fl|ph)\b\.?\s*", "", normalized(text).lstrip("# ")
    )
    return re.sub(r"[^a-z0-9]", "", bare)


def zip_code(text: str) -> str:
    """The first five digits of a postal code."""
    found = re.match(r"\s*(\d{5})", text)
    return found[1] if found else ""


def _without_city(line: str, city: str) -> str:
    """A line that no comma parts from its city: `100 North Charles Street Baltimore`."""
    whole, ending = normalized(line), normalized(city)
    return line[: len(line) - len(city)].rstrip(" ,") if ending and whole.endswith(f" {ending}") else line


def _without_unit(line: str) -> tuple[str, str]:
    found = _UNIT.search(line)
    if found is None:
        return line, ""
    return (line[: found.start()] + line[found.end() :]).strip(" ,"), found["unit"]


def _short(word: str) -> str:
    return _SUFFIXES.get(word) or _DIRECTIONS.get(word) or _ORDINALS.get(word) or word
