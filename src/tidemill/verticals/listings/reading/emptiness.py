"""Whether a page says that a home is gone, or that none is for rent: words, never silence."""

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
_OVER = (
    r"(?:removed|deleted|expired|taken(?: down| off the market)?|off[- ](?:the )?market|deactivated|inactive|"
    r"unavailable)"
)
_LET = (
    r"(?:rented|leased)(?! (?:(?:un|partly |fully |semi-?)?furnished|out|as|with|on|through|via|per|for|from|to|"
    r"monthly)\b)"
)
_GONE = re.compile(
    rf"\b{_THIS} (?:is|was) (?:currently |unfortunately )?(?:no longer|not|not currently) "
    r"(?:active|on the market|for rent|listed|available(?! (?:until|before|for (?:short|pets))\b))"
    rf"|\b{_THIS} (?:is|was) (?:now |already |currently |unfortunately )?(?:{_OVER}|{_LET})"
    rf"|\b{_THIS} has (?:now |already )?(?:expired|been (?:already )?(?:{_OVER}|{_LET}|flagged))"
    rf"|\b{_THIS} (?:no longer exists?|is no longer accepting)\b"
    r"|\bdeze (?:woning|advertentie) is (?:niet (?:langer|meer) beschikbaar|verhuurd|verwijderd)\b",
    re.IGNORECASE,
)
_TERSE = re.compile(
    r"(?<!may be )(?<!might be )\bno longer (?:available|on the market|listed|for rent|exists?)\b"
    r"|\boff[- ]market\b(?! (?:homes?|listings?|properties|rentals?|apartments?|units?))"
    r"|\balready (?:rented|leased)\b"
    r"|\b(?:listing|posting|property|rental) (?:removed|expired|not found|inactive|ended)\b",
    re.IGNORECASE,
)
"""Words that say it without saying of what: they count where nothing else can be meant."""
_NOTICE = 4_000
_EARLY = 1_500
_TERSE_PAGE = 600
"""Characters of a page that says little but that the home is gone."""


def declares_no_homes(document: Document) -> str:
    """The page's own words for having no home to show; '' if it says no such thing."""
    match = _NONE.search(document.text)
    return match[0][:200] if match else ""


def removal_notice(document: Document) -> str:
    """The page's own words for a home that is gone, on a page that answered as if all were well; '' if there are none.

    The words count in the title, in a heading, near the top, or where the page has little else to say: a related
    listing at the bottom that is 'no longer available' says nothing about this one. Whoever says it must say it of
    this home: 'is available' is no removal, and taking off what is there is worse than noticing late.
    """
    for text in (document.title, *(node.text(strip=True) for node in document.css("h1, [role=alert], .alert"))):
        if match := _GONE.search(text) or _TERSE.search(text):
            return match[0][:200]
    words = document.text
    match = _GONE.search(words if len(words) <= _NOTICE else words[:_EARLY])
    if match is None and len(words) <= _TERSE_PAGE:
        match = _TERSE.search(words)
    return match[0][:200] if match else ""
