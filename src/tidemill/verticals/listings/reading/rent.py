"""Rents as people write them: one, a range, from, per person, per week, or on request."""

import re
from enum import StrEnum
from functools import lru_cache

import msgspec

from tidemill.verticals.listings.reading.rent_currencies import SIGN, code_of

MOST_CENTS = 2_000_000_000

_SYMBOL = rf"(?P<symbol>{SIGN})"
_NUMBER = (
    r"(?P<whole>\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:[,.'\u2019\u00a0\u202f ]\d{3})+|\d+)"
    r"(?:[.,](?P<part>\d{1,2})(?!\d))?(?P<thousand>k\b)?"
)
_AMOUNT = re.compile(rf"{_SYMBOL}\s*{_NUMBER}(?:\s*,-)?", re.IGNORECASE)
_AMOUNT_BEHIND = re.compile(
    rf"(?<![\w.,]){_NUMBER}(?:\s*[,.]-)?\s*(?P<symbol>{SIGN})(?!\s*\d)",
    re.IGNORECASE,
)
"""As the continent writes it: `1.250,50 €`."""
_BARE = re.compile(rf"(?<![\w.,#-]){_NUMBER}(?![\w%]|\s*(?:bed|bd|br|bath|ba\b|sq|ft|m²|m2))", re.IGNORECASE)
_ON_REQUEST = re.compile(
    r"\b(?:call|contact|inquire|enquire|ask|email|phone)\b"
    r"|\b(?:price|rent|rate)s? (?:on|upon|by) (?:request|application)\b"
    r"|\bon request\b|\bp\.?o\.?a\.?\b|\bt\.?b\.?[ad]\.?\b|\bunavailable\b|\bop aanvraag\b|\bn/?a\b",
    re.IGNORECASE,
)
_NOT_RENT = re.compile(
    r"\b(?:deposit|application fee|fees?|off|save|savings|special|discount|credit|pet rent|parking|was|reduced from|"
    r"admin|utilities|move-in|gift card)\b",
    re.IGNORECASE,
)
_PERIODS = (
    (
        re.compile(
            r"(?:/|\bper |\ba |\beach )\s*(?:week|wk)\b|\bp\.?w\.?\b|\bweekly\b"
            r"|/ ?(?:woche|semaine|semana|settimana)\b",
            re.IGNORECASE,
        ),
        "week",
    ),
    (
        re.compile(
            r"(?:/|\bper |\ba )\s*(?:night|day|nt)\b|\bnightly\b|\bdaily\b|/ ?(?:nacht|nuit|noche|notte|noite)\b",
            re.IGNORECASE,
        ),
        "night",
    ),
    (re.compile(r"(?:/|\bper |\ba )\s*(?:year|yr|annum)\b|\byearly\b|\bp\.?a\.?\b", re.IGNORECASE), "year"),
)
_PER_PERSON = re.compile(
    r"(?:/|\bper |\beach |\ba )\s*(?:person|bed(?:room)?|room|tenant|occupant)\b|\bp\.?p\.?\b", re.IGNORECASE
)
_FROM = re.compile(r"\b(?:from|starting(?: at)?|starts at|vanaf|as low as)\b|\+(?!\s*[$€£\d])", re.IGNORECASE)
_UP_TO = re.compile(r"\bup to\b|\btot\b", re.IGNORECASE)
_LONGEST = 300
_NAMES_MONEY = re.compile(rf"(?:{SIGN})[\s\u00a0]?\d|\d(?:\s|[.,]-)?(?:{SIGN})", re.IGNORECASE)


class Period(StrEnum):
    """What a rent is paid for."""

    MONTH = "month"
    WEEK = "week"
    NIGHT = "night"
    YEAR = "year"


class Rent(msgspec.Struct, frozen=True, kw_only=True):
    """A rent in cents: `low` alone for one amount or 'from', both for a range, neither when it is told on request."""

    low: int | None = None
    high: int | None = None
    currency: str = "USD"
    period: Period = Period.MONTH
    per_person: bool = False
    open_ended: bool = False

    @property
    def on_request(self) -> bool:
        """Whether one has to ask."""
        return self.low is None

    def monthly(self, cents: int | None) -> int | None:
        """An amount of this rent as it comes to a month; nights make no month."""
        if cents is None or self.period is Period.NIGHT:
            return None
        if self.period is Period.WEEK:
            return round(cents * 52 / 12)
        return round(cents / 12) if self.period is Period.YEAR else cents


def parse_rent(text: str, currency: str = "USD") -> Rent | None:
    """The rent that a text tells; None if it tells none. Deposits, fees and savings are no rent.

    >>> parse_rent("$1,450 - $2,100/mo")
    Rent(low=145000, high=210000, currency='USD', period=<Period.MONTH: 'month'>, per_person=False, open_ended=False)
    """
    return _parsed(text[:_LONGEST], currency)


@lru_cache(maxsize=4_096)
def _parsed(text: str, currency: str) -> Rent | None:
    """The same of a text that is not too long: a card's words are asked for each of the boxes that they stand in."""
    written = _with_symbols(text)
    amounts = (
        _amounts(written, _AMOUNT, currency)
        or _amounts(text, _AMOUNT_BEHIND, currency)
        or ([] if _NAMES_MONEY.search(text) else _amounts(text, _BARE, currency))
    )
    if not amounts:
        return Rent(currency=currency) if _ON_REQUEST.search(text) else None
    first, *others = amounts
    low, named = first.cents, first.currency
    high = others[0].cents if others and _is_range(text) and others[0].cents >= low else None
    own_words = first.before + first.after if others and high is None else text
    return Rent(
        low=low,
        high=high if high != low else None,
        currency=named,
        period=_period(own_words),
        per_person=_PER_PERSON.search(text) is not None,
        open_ended=high is None and _FROM.search(text) is not None,
    )


def has_rent(text: str) -> bool:
    """Whether a text names an amount with its currency: a cheap look before a thorough one."""
    return _names_rent(text) if _DIGIT.search(text) else False


@lru_cache(maxsize=8_192)
def _names_rent(text: str) -> bool:
    return _NAMES_MONEY.search(text) is not None and parse_rent(text) is not None


_DIGIT = re.compile(r"\d")


class _Amount(msgspec.Struct, frozen=True):
    """An amount in a text, with the words before it and those up to the next."""

    cents: int
    currency: str
    before: str
    after: str


def _amounts(text: str, pattern: re.Pattern[str], currency: str) -> list[_Amount]:
    found = []
    matches = list(pattern.finditer(text))
    for place, match in enumerate(matches):
        cents = _cents(match)
        if 0 < cents <= MOST_CENTS and not _is_something_else(text, match):
            symbol = match.groupdict().get("symbol")
            named = code_of(symbol, currency) if symbol else currency
            until = matches[place + 1].start() if place + 1 < len(matches) else len(text)
            before = text[: match.start()] if place == 0 else ""
            found.append(_Amount(cents, named, before, text[match.end() : until]))
    return found


_SYMBOL_ONCE = re.compile(
    rf"({_SYMBOL}\s*[\d,.]*\d\s*(?:-|\u2013|\u2014|\bto\b)\s*)(?=\d)(?![\d,.]+\s*(?:bed|bd|br|bath|ba\b|sq|ft|m²|m2))",
    re.IGNORECASE,
)


_RANGE_MARK = re.compile(r"[-\u2013\u2014]|to\b", re.IGNORECASE)


def _with_symbols(text: str) -> str:
    """A range that names its currency once, naming it twice: `$1,200-1,500`."""
    if not _RANGE_MARK.search(text):
        return text
    return _SYMBOL_ONCE.sub(lambda found: found[1] + found["symbol"], text)


def _cents(match: re.Match[str]) -> int:
    whole = int(re.sub(r"\D", "", match["whole"]))
    part = int((match["part"] or "").ljust(2, "0") or 0)
    return (whole * 100 + part) * (1000 if match["thousand"] else 1)


def _is_something_else(text: str, match: re.Match[str]) -> bool:
    """Whether the words right before or after an amount say that it is no rent."""
    before = re.split(r"[;|\n\d]|[.,!]\s", text[max(0, match.start() - 24) : match.start()])[-1]
    after = re.split(r"[;|,\n+$€£]|\.\s", text[match.end() : match.end() + 18])[0]
    if _NOT_RENT.search(before) is not None:
        return True
    return _NOT_RENT.search(after) is not None and _CALLED_RENT.search(before) is None


_CALLED_RENT = re.compile(
    r"\b(?:rent|price|huur(?:prijs)?|(?:kalt|warm)?miete|loyer|alquiler|canone|affitto)\s*:?\s*$", re.IGNORECASE
)
"""The label of a rent, behind which the next label may follow on the same line: `Rent: $950 Deposit: $500`."""
_BETWEEN = re.compile(
    r"\d(?:\.\d\d)?k?\s*(?:[a-z/.]{0,6})\s*(?:-|\u2013|\u2014|\bto\b|\btot\b)\s*(?:usd|us|eur|gbp|cad|ca?)?[$€£]?\s*\d",
    re.IGNORECASE,
)


def _is_range(text: str) -> bool:
    return _BETWEEN.search(text) is not None or _UP_TO.search(text) is not None


def _period(text: str) -> Period:
    return Period(next((name for pattern, name in _PERIODS if pattern.search(text)), "month"))
