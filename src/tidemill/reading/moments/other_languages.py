"""Running text of other languages, with the words of its dates in words that the search for dates knows.

A date of German, French, Spanish or Italian is written over in Dutch, letter for letter in its place: what is found
stands where it stood, and the words around it stay as they are.
"""

import re
from collections.abc import Iterator

from tidemill.reading.moments.grammar.languages import TABLES
from tidemill.reading.moments.words import MONTHS, WEEKDAYS, any_of

_LANGUAGES = ("de", "fr", "es", "it")
_MONTHS = ("jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec")
_WEEKDAYS = ("ma", "di", "wo", "do", "vr", "za", "zo")


_OTHER_WORDS = frozenset({"set", "mag", "gen", "mart"})
"""Short names that are words of other languages beside a number: `3 set`."""


def _names(line: str, known: dict[str, int], meanings: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for language in _LANGUAGES:
        for meaning, names in zip(meanings, TABLES[language][line].split(), strict=False):
            for name in names.split(","):
                if name not in known and name not in _OTHER_WORDS and len(name) >= len(meaning):
                    yield name, meaning


MONTH_NAMES = dict(_names("month", MONTHS, _MONTHS))
"""Names of months in the other languages, and the short Dutch one of each."""
WEEKDAY_NAMES = {
    name: meaning
    for name, meaning in _names("weekday", WEEKDAYS | MONTHS | dict.fromkeys(MONTH_NAMES, 0), _WEEKDAYS)
    if len(name) > 2 or name in {"so", "mi"}  # noqa: PLR2004 - two letters are words of other sentences
}
_HOURS = {"uhr": "uur", "heures": "uur", "heure": "uur", "horas": "uur"}
_WORDS = MONTH_NAMES | WEEKDAY_NAMES | _HOURS
_SIGN = re.compile(
    rf"\d(?:\.|er|[\u00ba\u00b0])?\s*(?:de\s+|/\s?|-\s?)?(?:{any_of(MONTH_NAMES)})(?![^\W\d_])|\d\s?(?:{any_of(_HOURS)})\b"
    rf"|\b(?:{any_of(WEEKDAY_NAMES)})\b\.?,?\s*\d",
    re.IGNORECASE,
)
"""What only a date of these languages has."""
_NAMES = frozenset(_WORDS)
_LETTERS = re.compile(r"[^\W\d_]+")
"""The words of a text: to look them up takes a tenth of the search for a date."""
_KNOWN = re.compile(rf"(?<![^\W\d_])(?P<word>{any_of(_WORDS)})(?![^\W\d_])\.?", re.IGNORECASE)
_WEEKDAY = rf"(?:(?:{'|'.join(_WEEKDAYS)})\b[.,]?\s*)?"
_HOUR = r"(?:\s?(?:uur|h|u)\b(?:\d\d)?)?"
_BETWEEN = re.compile(
    rf"(?P<gap>\d(?:\.|e|{_HOUR}|\s+(?:{'|'.join(_MONTHS)})\b)?\s+)(?P<to>bis(?: zum)?|au|al|alle)(?=\s+{_WEEKDAY}\d)",
    re.IGNORECASE,
)
_BETWEEN_HOURS = re.compile(
    r"(?P<gap>(?:\d\s?(?:uur|h|u)(?:\d\d)?|\d:\d\d)\s+)(?P<to>[\u00e0a])(?=\s+\d)", re.IGNORECASE
)
_AND = re.compile(rf"(?<=\d)(?P<gap>\.?\s+)(?P<and>und|et|y|e)(?=\s+{_WEEKDAY}\d)", re.IGNORECASE)
_FIRST = re.compile(r"(?<=\b1)(?:er\b|[\u00ba\u00b0])", re.IGNORECASE)
_OF_YEAR = re.compile(rf"(?<=\b(?:{'|'.join(_MONTHS)}))(?P<gap>\s+)del?(?=\s+(?:19|20)\d\d)", re.IGNORECASE)
_OF_MONTH = re.compile(rf"(?<=\d)(?P<gap>\s+)d[ei](?=\s+(?:{'|'.join(_MONTHS)})\b)", re.IGNORECASE)
_AT_HOUR = re.compile(r"\bore(?=\s+\d)", re.IGNORECASE)


def in_known_words(text: str) -> str:
    """The text with its dates in Dutch, each letter in its place; unchanged where it has no date of these languages."""
    if _NAMES.isdisjoint(_LETTERS.findall(text.lower())) or not _SIGN.search(text):
        return text
    text = _FIRST.sub(lambda match: "e".ljust(len(match[0])), text)
    text = _KNOWN.sub(lambda match: _WORDS[match["word"].lower()].ljust(len(match[0])), text)
    text = _OF_YEAR.sub(lambda match: " " * len(match[0]), text)
    text = _OF_MONTH.sub(lambda match: " " * len(match[0]), text)
    for between in (_BETWEEN, _BETWEEN_HOURS):
        text = between.sub(lambda match: match["gap"] + "-".ljust(len(match["to"])), text)
    text = _AND.sub(lambda match: match["gap"] + "&".ljust(len(match["and"])), text)
    return _AT_HOUR.sub("om ", text)
