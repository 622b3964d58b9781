"""Whether a page says itself that there is nothing to show: an empty agenda, not a broken reader."""

import re

from tidemill.reading.document import Document

_WAT = (
    r"(?:evenement(?:en)?|activiteit(?:en)?|voorstelling(?:en)?|concert(?:en)?|agenda-?items?|bijeenkomst(?:en)?|"
    r"vergadering(?:en)?|resulta(?:ten|at)|items?|programma|optredens?|workshops?|agendapunten)"
)
_WHAT = r"(?:events?|activities|meetings?|shows?|performances?|results?|concerts?)"
_EMPTY = re.compile(
    rf"\b(?:er (?:zijn|is|staan|staat|werden|werd)|we hebben|op dit moment|momenteel|helaas|sorry)\b[^.!?]{{0,60}}?"
    rf"\bgeen (?:\w+ ){{0,3}}{_WAT}\b"
    rf"|\bgeen (?:\w+ ){{0,2}}{_WAT} (?:gevonden|gepland|beschikbaar|bekend|in de agenda|op de agenda)"
    r"|\bde agenda is (?:nog |momenteel |op dit moment )?leeg"
    rf"|\bno (?:\w+ ){{0,2}}{_WHAT} (?:\w+ ){{0,3}}?"
    r"(?:found|scheduled|planned|listed|available|at this time|at the moment|to (?:show|display)|match\w*)"
    rf"|\bthere (?:are|is) (?:currently |presently )?(?:no|not any) (?:\w+ ){{0,2}}{_WHAT}"
    rf"|\bno (?:upcoming|scheduled|future|current) {_WHAT}\b"
    r"|\bno events\b(?=[.!]|$)|\bnothing (?:found|scheduled|planned)\b",
    re.IGNORECASE,
)


def declares_empty(document: Document, selector: str = "") -> str:
    """The page's own words for having nothing to show; '' if it says no such thing.

    `selector` is an adapter's own: it matches only when the agenda is empty.
    """
    if selector and (node := document.first(selector)) is not None:
        return node.text(strip=True)[:200] or selector
    match = _EMPTY.search(document.text)
    return match[0][:200] if match else ""
