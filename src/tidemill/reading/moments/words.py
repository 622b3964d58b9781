"""The words that dates are made of, Dutch and English, and the patterns that match them."""

import re

_MONTHS = (
    "januari january jan",
    "februari february feb febr",
    "maart march mrt mar maa",
    "april apr",
    "mei may",
    "juni june jun",
    "juli july jul",
    "augustus august aug",
    "september sept sep",
    "oktober october okt oct",
    "november nov",
    "december dec",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""Months by every name, 1 to 12."""

FULL_MONTHS = frozenset(MONTHS) - frozenset(
    "jan feb febr mrt mar maa apr jun jul aug sept sep okt oct nov dec".split()  # noqa: SIM905 - a list of words
)
"""The names that may stand alone."""

_WEEKDAYS = (
    "maandag monday maand",
    "dinsdag tuesday",
    "woensdag wednesday",
    "donderdag thursday",
    "vrijdag friday",
    "zaterdag saturday",
    "zondag sunday",
)
_SHORT_WEEKDAYS = (
    "ma maa mon mo",
    "di din dins tue tues tu",
    "wo woe woens wed we weds",
    "do don dond thu thur thurs th",
    "vr vri vrij fri fr",
    "za zat sat sa",
    "zo zon sun su",
)
FULL_WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()[:2]}
"""Weekdays by their full names, Monday 0: these may stand alone."""
WEEKDAYS = FULL_WEEKDAYS | {name: number for number, names in enumerate(_SHORT_WEEKDAYS) for name in names.split()}
"""Weekdays by every name; a short one counts only beside a date."""

_NUMBERS = {
    "een": 1, "één": 1, "twee": 2, "drie": 3, "vier": 4, "vijf": 5, "zes": 6, "zeven": 7, "acht": 8, "negen": 9,
    "tien": 10, "elf": 11, "twaalf": 12, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
NUMBERS = _NUMBERS
"""Small numbers by their words."""

HOURS = {word: number for word, number in _NUMBERS.items() if word not in {"a", "an"}}
"""Hours by their words, 1 to 12."""

ORDINALS = {
    "eerste": 1, "tweede": 2, "derde": 3, "vierde": 4, "vijfde": 5, "laatste": -1,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1,
    "1e": 1, "2e": 2, "3e": 3, "4e": 4, "5e": 5, "1ste": 1, "2de": 2, "3de": 3, "4de": 4,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5,
}  # fmt: skip
"""Which of a month's weekdays, -1 the last."""

DAY_PARTS = {
    "ochtend": 6, "morgen": 6, "ochtends": 6, "morgens": 6, "voormiddag": 9, "middag": 12, "middags": 12,
    "namiddag": 15, "namiddags": 15, "avond": 20, "avonds": 20, "nacht": 22, "nachts": 2,
    "morning": 6, "afternoon": 15, "evening": 20, "night": 22,
}  # fmt: skip
"""The hour that stands for a part of the day when no other is named."""


def any_of(words: object) -> str:
    """A pattern for any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))  # type: ignore[call-overload]


MONTH = rf"(?:{any_of(MONTHS)})\b\.?"
WEEKDAY = rf"(?:{any_of(WEEKDAYS)})\b\.?"
FULL_WEEKDAY = rf"(?:{any_of(FULL_WEEKDAYS)})"
TO = r"(?:-+|t/m|t\.?m\.?|tot en met|tot|through|thru|until|till|to|en met)"
"""What stands between the two ends of a range; dashes of all kinds have become hyphens before."""

_DASHES = str.maketrans({
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u2192": "-",
    "\u2018": "'", "\u2019": "'", "`": "'", "\u00b4": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " ",
    "[": " ", "]": " ", "|": ",", "\u2022": ",", "\u00b7": ",", "\u200b": "",
})  # fmt: skip


def prepared(text: str) -> str:
    """Text as the patterns want it: lower case, one kind of dash and apostrophe, single blanks."""
    return " ".join(text.translate(_DASHES).lower().split())


_HINTS = (
    "vandaag morgen overmorgen gister eergisteren vanavond vanmiddag vanochtend vanmorgen vannacht today tomorrow "
    "yesterday tonight weekend week deze this nu now geleden ago later over binnen within in before after day dagen "
    "min month maand year jaar noon midnight middernacht half kwart uur last jan feb hele all"
)
DATE_HINT = re.compile(rf"\d|\b(?:{any_of({*FULL_WEEKDAYS, *FULL_MONTHS, *_HINTS.split()})})", re.IGNORECASE)
"""What a text must hold to be worth a closer look."""
