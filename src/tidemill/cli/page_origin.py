"""What a page says of itself that a reader must know: its language, and the clock of where it is."""

import re

from tidemill.core.checks.languages import language_of
from tidemill.core.page import Page
from tidemill.core.urls import BadUrl, host_of

ZONES = {
    "nl": "Europe/Amsterdam", "be": "Europe/Brussels", "de": "Europe/Berlin", "at": "Europe/Vienna",
    "ch": "Europe/Zurich", "fr": "Europe/Paris", "es": "Europe/Madrid", "it": "Europe/Rome", "pt": "Europe/Lisbon",
    "uk": "Europe/London", "gb": "Europe/London", "ie": "Europe/Dublin", "dk": "Europe/Copenhagen",
    "se": "Europe/Stockholm", "no": "Europe/Oslo", "fi": "Europe/Helsinki", "pl": "Europe/Warsaw",
    "us": "America/New_York",
}  # fmt: skip
"""The clock of a country, by its code in addresses and locales; of those with several, the capital's coast."""

BY_CURRENCY = {"GBP": "Europe/London", "USD": "America/New_York", "CHF": "Europe/Zurich", "PLN": "Europe/Warsaw",
               "DKK": "Europe/Copenhagen", "SEK": "Europe/Stockholm", "NOK": "Europe/Oslo"}  # fmt: skip
USUAL_LANGUAGE, USUAL_ZONE = "nl", "Europe/Amsterdam"
LOOKED_AT = 200_000
"""Bytes of a page that are searched; what it says of itself stands at its top."""

_HTML = re.compile(r"<html\b[^>]{0,2000}?\blang\s*=\s*[\"']?([\w-]{2,20})", re.IGNORECASE)
_LOCALE = re.compile(r"<meta\b[^>]{0,200}?og:locale[\"'][^>]{0,200}?content\s*=\s*[\"']([\w-]{2,20})", re.IGNORECASE)
_CURRENCY = re.compile(r"(?:priceCurrency|price:currency)[\"'][^>]{0,40}?[\"']([A-Z]{3})[\"']")
_NOSCRIPT = re.compile(r"<noscript\b[^>]{0,200}>(.{0,2000}?)</noscript", re.IGNORECASE | re.DOTALL)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script", re.IGNORECASE)


def page_language(page: Page) -> tuple[str, str]:
    """Return the language of a page, and where it says so; the usual one if it does not."""
    text = _top(page)
    for pattern, where in ((_HTML, "html lang"), (_LOCALE, "og:locale")):
        if (found := pattern.search(text)) and (code := language_of(found[1])):
            return code, where
    return USUAL_LANGUAGE, "assumed"


def page_zone(page: Page, language: str) -> tuple[str, str]:
    """Return the time zone of a page's country, and how it is known; the usual one if it is not."""
    text, land = _top(page), _land_of(page.url)
    if land in ZONES:
        return ZONES[land], f"its address ends in .{land}"
    for pattern, where in ((_LOCALE, "og:locale"), (_HTML, "html lang")):
        if (found := pattern.search(text)) and (zone := ZONES.get(_region(found[1]))):
            return zone, where
    if (found := _CURRENCY.search(text)) and found[1] in BY_CURRENCY:
        return BY_CURRENCY[found[1]], f"its prices are in {found[1]}"
    if language in ZONES and language != USUAL_LANGUAGE:
        return ZONES[language], f"its language is {language}"
    return USUAL_ZONE, "assumed"


def needs_scripts(page: Page) -> bool:
    """Return whether the page says that it needs JavaScript."""
    return any(_ASKS_FOR_SCRIPTS.search(found[1]) for found in _NOSCRIPT.finditer(_top(page)))


def _top(page: Page) -> str:
    return page.body[:LOOKED_AT].decode(page.charset or "utf-8", "replace")


def _land_of(url: str) -> str:
    try:
        return host_of(url).rpartition(".")[2]
    except BadUrl:
        return ""


def _region(tag: str) -> str:
    return tag.replace("_", "-").rpartition("-")[2].lower() if "-" in tag or "_" in tag else ""
