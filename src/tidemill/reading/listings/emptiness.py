"""Whether a page says that a home is gone, or that none is for rent: words, never silence (D-7)."""

import re

from tidemill.reading.document import Document

_HOMES = r"(?:apartments?|homes?|rentals?|listings?|properties|results?|units?|woningen|appartementen)"
_NONE = re.compile(
    rf"\bno (?:\w+ ){{0,3}}{_HOMES} (?:\w+ ){{0,3}}?(?:found|available|match\w*|for rent|at this time|right now)\b"
    rf"|\b(?:we )?(?:could(?: not|n.t)|did(?: not|n.t)) find any (?:\w+ ){{0,3}}{_HOMES}\b"
    rf"|\b(?:there are|0|zero) (?:currently )?(?:no )?{_HOMES} (?:found|available|for rent)\b"
    r"|\bgeen (?:\w+ ){0,2}(?:woningen|appartementen) (?:gevonden|beschikbaar)\b",
    re.IGNORECASE,
)
_THIS = (
    r"(?:this|the) (?:listing|property|apartment|unit|home|rental|ad(?:vertisement)?|posting|floor ?plan|page)"
    r"(?: (?:you (?:requested|are looking for)|you.re looking for))?"
)
_GONE = re.compile(
    rf"\b{_THIS} (?:is|has been|was|may be) (?:no longer|not|unfortunately|already|currently not)?\s*"
    r"(?:available|active|on the market|for rent|listed|rented|leased|"
    r"removed|deleted|expired|taken|off the market|deactivated|inactive)"
    rf"|\b{_THIS} (?:has|have) "
    r"(?:expired|been (?:rented|leased|removed|deleted|taken(?: down| off the market)?|deactivated|flagged))"
    r"|\bno longer (?:available|on the market|listed|for rent|exists?|accepting)\b"
    r"|\b(?:off[- ]market|already (?:rented|leased)|listing (?:removed|expired|not found|inactive|ended))\b"
    r"|\bdeze (?:woning|advertentie) is (?:niet (?:langer|meer) beschikbaar|verhuurd|verwijderd)\b",
    re.IGNORECASE,
)
_NOTICE = 4_000
_EARLY = 1_500


def declares_no_homes(document: Document) -> str:
    """The page's own words for having no home to show; '' if it says no such thing."""
    match = _NONE.search(document.text)
    return match[0][:200] if match else ""


def removal_notice(document: Document) -> str:
    """The page's own words for a home that is gone, on a page that answered as if all were well; '' if there are none.

    The words count in the title, in a heading, near the top, or where the page has little else to say: a related
    listing at the bottom that is 'no longer available' says nothing about this one.
    """
    for text in (document.title, *(node.text(strip=True) for node in document.css("h1, h2, [role=alert], .alert"))):
        if match := _GONE.search(text):
            return match[0][:200]
    words = document.text
    match = _GONE.search(words if len(words) <= _NOTICE else words[:_EARLY])
    return match[0][:200] if match else ""
