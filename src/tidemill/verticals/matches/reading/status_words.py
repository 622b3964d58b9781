"""How sites say that a match is to come, on, on a break, or over."""

import re

from tidemill.verticals.matches.record import BreakKind, MatchStatus

_LONGEST = 200
_BREAKS = (
    (BreakKind.INNINGS, re.compile(r"\binnings? ?break\b|\bbetween innings\b|\binnings_break\b")),
    (BreakKind.LUNCH, re.compile(r"\blunch\b")),
    (BreakKind.TEA, re.compile(r"\btea\b")),
    (BreakKind.DRINKS, re.compile(r"\bdrinks?\b")),
    (BreakKind.STUMPS, re.compile(r"\bstumps\b|\bend of day\b|\bclose of play\b")),
    (BreakKind.RAIN, re.compile(r"\brain\b|\bwet outfield\b|\bbad light\b")),
    (BreakKind.OTHER, re.compile(r"\bdelay(?:ed)?\b|\bstopped\b|\binterrupted\b|\bbreak\b|\bpaused\b")),
)
_ABANDONED = re.compile(r"\babandon(?:ed)?\b|\bcancell?ed\b|\bno result\b|\bcalled off\b")
_COMPLETED = re.compile(
    r"\bcomplete[d]?\b|\bfinished\b|\bresult\b|\bwon\b|\bended\b|\bmatch over\b|\bdrawn?\b|\btied?\b|\bpost\b"
)
_UPCOMING = re.compile(r"\bupcoming\b|\bscheduled\b|\bpreview\b|\bnot started\b|\bfixture\b|\bpre\b|\bstarts?\b")
_LIVE = re.compile(
    r"\blive\b|\bin progress\b|\bin play\b|\bplaying\b|\bchasing\b|\bsuper over\b|\btrail\b|\blead\b|\bneed\b"
)
_OUTCOMES = (
    ("no result", re.compile(r"\bno result\b")),
    ("abandoned", re.compile(r"\babandon(?:ed)?\b|\bcancell?ed\b|\bcalled off\b")),
    ("draw", re.compile(r"\bdrawn?\b")),
    ("tie", re.compile(r"\btied?\b")),
)


def _plain(text: str) -> str:
    return text[:_LONGEST].casefold().replace("_", " ").replace("-", " ")


def break_in(text: str) -> BreakKind | None:
    """Return the break that a text names."""
    plain = _plain(text)
    return next((kind for kind, words in _BREAKS if words.search(plain)), None)


def pause_of(text: str) -> BreakKind | None:
    """Return the break that a field for breaks names: by our own word, by the usual ones, or as one nobody knows."""
    plain = _plain(text).strip()
    if not plain:
        return None
    return BreakKind(plain) if plain in set(BreakKind) else break_in(plain) or BreakKind.OTHER


def match_status(text: str) -> MatchStatus | None:
    """Return what a site's word for a match's status means; a break is live, and None is a word we do not know."""
    plain = _plain(text)
    if _ABANDONED.search(plain):
        return MatchStatus.ABANDONED
    if break_in(plain) is not None:
        return MatchStatus.LIVE
    for status, words in (
        (MatchStatus.COMPLETED, _COMPLETED),
        (MatchStatus.UPCOMING, _UPCOMING),
        (MatchStatus.LIVE, _LIVE),
    ):
        if words.search(plain):
            return status
    return None


def outcome_in(text: str) -> str:
    """Return the outcome without a winner that a text names, '' for none."""
    plain = _plain(text)
    return next((outcome for outcome, words in _OUTCOMES if words.search(plain)), "")
