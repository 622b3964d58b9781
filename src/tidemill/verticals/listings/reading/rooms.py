"""Beds, baths and size as listings write them, ranges included."""

import re

import msgspec

SQUARE_FEET_A_METRE = 10.7639

_NUMBER = r"\d{1,2}(?:\.\d{1,2}|\s?½|\s1/2)?"
_TO = r"\s*(?:-|\u2013|\u2014|\bto\b|/)\s*"
_BED_WORDS = r"(?:bed(?:room)?s?|bds?|bd?rms?|brs?|slaapkamers?|schlafzimmer|hab(?:s|itaci[oó]n(?:es)?)?|chambres?"
_BED_WORDS += r"|slpk|dormitorios?|quartos?|camere da letto|sovrum|soveværelser?)\b"
_BATH_WORDS = r"(?:bath(?:room)?s?|ba(?:ths?)?|badkamers?|ba[nñ]os?)\b"
_BEDS = re.compile(
    rf"(?<![\d.,$€£])(?P<low>studio|{_NUMBER})(?:\s*{_BED_WORDS})?(?:{_TO}(?P<high>{_NUMBER}))?\s*\+?[\s-]*{_BED_WORDS}",
    re.IGNORECASE,
)
_STUDIO = re.compile(r"\b(?:studio|efficiency|bachelor)s?\b", re.IGNORECASE)
_BATHS = re.compile(
    rf"(?<![\d.,$€£])(?P<low>{_NUMBER})(?:\s*{_BATH_WORDS})?(?:{_TO}(?P<high>{_NUMBER}))?\s*\+?[\s-]*"
    rf"(?:full |private |shared )?{_BATH_WORDS}",
    re.IGNORECASE,
)


def _after(words: str, between: str) -> re.Pattern[str]:
    """A number behind what it counts: `Beds: 2`."""
    pattern = rf"\b{words}{between}(?P<low>studio|{_NUMBER})(?:{_TO}(?P<high>{_NUMBER}))?(?!\d|,\d)"
    return re.compile(pattern, re.IGNORECASE)


_LABELLED_BEDS, _LABELLED_BATHS = _after(_BED_WORDS, r"\s?:\s*"), _after(_BATH_WORDS, r"\s?:\s*")
_BEDS_AFTER, _BATHS_AFTER = _after(_BED_WORDS, r"\s+"), _after(_BATH_WORDS, r"\s+")
_SIZE = re.compile(
    r"(?<![$€£\d.,])(?P<low>\d[\d,]*(?:\.\d+)?)(?:\s*(?:-|\u2013|\u2014|\bto\b)\s*(?P<high>\d[\d,]*(?:\.\d+)?))?\s*\+?\s*"
    r"(?P<unit>sq\.?\s*f(?:ee)?t\.?|sqft|square f(?:ee|oo)t|ft²|ft\s?2\b|sf\b|m²|m\s?2\b|m\^2|sq\.?\s*m\b"
    r"|square met\w+|qm\b|mq\b|kvm\b|metri quadr\w+|mètres? carrés?|metros? cuadrad\w+|quadratmeter|vierkante meter)",
    re.IGNORECASE,
)
_ROOMS = re.compile(
    r"(?<![\d.,$€£])(?P<rooms>\d{1,2}(?:[.,]5)?)[\s-]*(?:kamers?|kamerwoning|kamerappartement|zimmer|zi\b\.?"
    r"|pi[eè]ces?|locali|vani|stanze|rum\b|rok\b|værelser?|pokoje|pokoi)|\bT(?P<type>[1-7])\b",
    re.IGNORECASE,
)
"""Rooms as the continent counts them: all but kitchen and bath, the living room among them."""
_MOST_ROOMS, _MOST_FEET = 20, 30_000


class Span(msgspec.Struct, frozen=True):
    """From so much to so much; the two are the same where only one is told."""

    low: float
    high: float


def parse_beds(text: str) -> Span | None:
    """How many bedrooms; a studio has none, and of rooms that are all counted one is to live in.

    >>> parse_beds("Studio - 2 Beds")
    Span(low=0.0, high=2.0)
    """
    match = _LABELLED_BEDS.search(text) or _BEDS.search(text) or _BEDS_AFTER.search(text)
    if match is not None:
        low = 0.0 if match["low"].lower() == "studio" else number(match["low"])
        return _span(low, match["high"])
    if _STUDIO.search(text):
        return Span(0.0, 0.0)
    rooms = _ROOMS.search(text)
    if rooms is None:
        return None
    counted = number((rooms["rooms"] or rooms["type"]).replace(",", "."))
    return _span(max(0.0, float(int(counted)) - 1), None)


def parse_baths(text: str) -> Span | None:
    """How many bathrooms, halves included."""
    match = _LABELLED_BATHS.search(text) or _BATHS.search(text) or _BATHS_AFTER.search(text)
    return _span(number(match["low"]), match["high"]) if match is not None else None


def parse_size(text: str) -> Span | None:
    """The floor's size in square feet; metres are converted."""
    match = _SIZE.search(text)
    if match is None:
        return None
    factor = 1.0 if "f" in match["unit"].lower() else SQUARE_FEET_A_METRE
    low = _feet(match["low"]) * factor
    high = _feet(match["high"]) * factor if match["high"] else low
    return Span(round(low), round(high)) if 0 < low <= high <= _MOST_FEET else None


def _feet(text: str) -> float:
    """`1,250` and `72,5` alike: three digits behind a comma are thousands, fewer are a fraction."""
    return float(re.sub(r",(?=\d{1,2}$)", ".", text).replace(",", ""))


def count(value: str) -> Span | None:
    """A bare number of rooms, such as a field named `beds` holds."""
    text = value.strip()
    if match := re.fullmatch(rf"(?P<low>{_NUMBER})(?:{_TO}(?P<high>{_NUMBER}))?\+?", text):
        return _span(number(match["low"]), match["high"])
    return Span(0.0, 0.0) if _STUDIO.fullmatch(text) else None


def number(text: str) -> float:
    """`1.5`, `1½` and `1 1/2` alike."""
    halved = re.sub(r"\s?½|\s1/2", ".5", text.strip())
    return float(halved)


def _span(low: float, high: str | None) -> Span | None:
    top = number(high) if high else low
    return Span(low, top) if 0 <= low <= top <= _MOST_ROOMS else None
