"""Beds, baths and size as listings write them, ranges included."""

import re

import msgspec

SQUARE_FEET_A_METRE = 10.7639

_NUMBER = r"\d{1,2}(?:\.\d{1,2}|\s?½|\s1/2)?"
_TO = r"\s*(?:-|\u2013|\u2014|\bto\b|/)\s*"
_BED_WORDS = r"(?:bed(?:room)?s?|bds?|bd?rms?|brs?|slaapkamers?|schlafzimmer|hab(?:s|itaci[oó]n(?:es)?)?|chambres?"
_BED_WORDS += r"|slpk|slk|slpkrs?|sz|dormitorios?|quartos?|camere da letto|sovrum|soveværelser?)\b"
_BATH_WORDS = r"(?:bath(?:room)?s?|ba(?:ths?)?|badkamers?|badk|ba[nñ]os?|bäder|bagni|salles? de bains?|sdb)\b"
_WORDED = re.compile(
    rf"\b(?P<count>one|two|three|four|five|six|een|één|twee|drie|vier|vijf|ein|zwei|drei|une?|deux|trois|quatre|dos|tres)"
    rf"[\s-]+(?P<what>{_BED_WORDS}|{_BATH_WORDS})",
    re.IGNORECASE,
)
_COUNTS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "een": 1, "één": 1, "twee": 2, "drie": 3, "vier": 4,
    "vijf": 5, "ein": 1, "zwei": 2, "drei": 3, "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "dos": 2,
    "tres": 3,
}  # fmt: skip
_AND_DEN = re.compile(r"\b(?P<low>\d)\s*\+\s*(?:den|1)\b", re.IGNORECASE)
"""`1 + den`: one bedroom, and a room without a window or a closet."""
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
_LABELLED_FEET = re.compile(
    r"\b(?:square feet|sq\.?\s?ft\.?|sqft)\s*:?\s*(?P<low>\d[\d,]{2,6})(?![\d.])", re.IGNORECASE
)
"""A number behind its unit: `Square Feet 750`."""
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
    text = _in_digits(text)
    match = _LABELLED_BEDS.search(text) or _BEDS.search(text) or _BEDS_AFTER.search(text)
    if match is not None:
        low = 0.0 if match["low"].lower() == "studio" else number(match["low"])
        return _span(low, match["high"])
    if _STUDIO.search(text):
        return Span(0.0, 0.0)
    if (den := _AND_DEN.search(text)) is not None:
        return _span(number(den["low"]), None)
    rooms = _ROOMS.search(text)
    if rooms is None:
        return None
    counted = number((rooms["rooms"] or rooms["type"]).replace(",", "."))
    return _span(max(0.0, float(int(counted)) - 1), None)


def _in_digits(text: str) -> str:
    """The text with its counts of rooms in digits: `two bedrooms`."""
    return _WORDED.sub(lambda match: f"{_COUNTS[match['count'].lower()]} {match['what']}", text)


def parse_baths(text: str) -> Span | None:
    """How many bathrooms, halves included."""
    text = _in_digits(text)
    match = _LABELLED_BATHS.search(text) or _BATHS.search(text) or _BATHS_AFTER.search(text)
    return _span(number(match["low"]), match["high"]) if match is not None else None


def parse_size(text: str) -> Span | None:
    """The floor's size in square feet; metres are converted."""
    match = _SIZE.search(text)
    if match is None:
        labelled = _LABELLED_FEET.search(text)
        feet = _feet(labelled["low"]) if labelled is not None else 0.0
        return Span(round(feet), round(feet)) if 0 < feet <= _MOST_FEET else None
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
