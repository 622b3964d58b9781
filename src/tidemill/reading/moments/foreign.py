"""Dates in other languages, by dateparser: only for texts that look like a full date and nothing else.

dateparser reads `an`, `1` and `2026` as dates, so it is never asked about a text that our own grammar refused
for its sense; only about a day, a word and a year, where the word may be a month in a language we lack.
"""

import re
from datetime import datetime
from importlib import import_module

_LOOKS_FULL = re.compile(
    r"(?:[^\W\d_]{2,12}\.?,?\s+)?(?:\d{1,2}\.?\s+(?:de\s+)?(?P<month>[^\W\d_]{3,12})\.?,?\s+(?:de\s+)?|(?P<month2>[^\W\d_]{3,12})\s+\d{1,2},?\s+)"
    r"(?:19|20)\d\d"
)
_LANGUAGES = ["de", "fr", "es", "it", "pt", "da", "sv", "fi", "pl"]


def parse_foreign(text: str, now: datetime) -> datetime | None:
    """The day that a full date in one of a few other languages names, at midnight; None for anything else."""
    if _LOOKS_FULL.fullmatch(text) is None:
        return None
    dateparser = import_module("dateparser")  # takes a tenth of a second, so only when a page needs it
    settings = {"STRICT_PARSING": True, "RELATIVE_BASE": now.replace(tzinfo=None), "DATE_ORDER": "DMY"}
    found: datetime | None = dateparser.parse(text, languages=_LANGUAGES, settings=settings)
    return found.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None) if found is not None else None
