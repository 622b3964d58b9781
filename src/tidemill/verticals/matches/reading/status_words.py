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
    (
        BreakKind.OTHER,
        re.compile(
            r"\bdelay(?:ed)?\b|\bstopped\b|\binterrupted\b|\bsuspended\b|\bbreak\b|\bpaused\b|\bdinner\b|\btime ?out\b"
        ),
    ),
)
_ABANDONED = re.compile(r"\babandon(?:ed)?\b|\bcancell?ed\b|\bno result\b|\bcalled off\b")
_COMPLETED = re.compile(
    r"\bcompleted?\b|\bfinished\b|\bresult\b|\bwon\b(?! the toss)|\bbeat\b|\bended\b|\bmatch over\b"
    r"|\bdrawn?\b|\btied?\b|\bpost\b"
)
_UPCOMING = re.compile(
    r"\bupcoming\b|\bscheduled\b|\bpreview\b|\bnot started\b|\byet to (?:begin|start)\b|\bfixture\b|\bpre\b|\bstarts?\b"
)
_LIVE = re.compile(
    r"\blive\b|\bin ?progress\b|\b(?:1st|2nd|3rd|4th) innings\b"
    r"|\bin play\b|\bplaying\b|\bchasing\b|\bsuper over\b|\btrail\b|\blead\b|\bneed\b"
)
_WIN = re.compile(
    r"^\W*(?P<winner>\S.{0,80}?) (?:won|win|beat [^,(]{1,80}) by (?P<by>[^(]{1,60}?)"
    r"(?: ?\((?P<method>[^)]{1,60})\))? *$",
    re.IGNORECASE,
)
_REVISED = re.compile(r"\bd/?l/?s?\b|duckworth|revised|\bvjd\b", re.IGNORECASE)
_SUPER_OVER = re.compile(r"\bsuper over\b")
_WON = re.compile(r"\bwon\b|\bwins?\b|\bbeat\b")
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
    if break_in(plain) is not None or (_SUPER_OVER.search(plain) and not _WON.search(plain)):
        return MatchStatus.LIVE
    for status, words in (
        (MatchStatus.COMPLETED, _COMPLETED),
        (MatchStatus.UPCOMING, _UPCOMING),
        (MatchStatus.LIVE, _LIVE),
    ):
        if words.search(plain):
            return status
    return None


def win_in(text: str) -> tuple[str, str, str]:
    """Return the winner, by how much and by which method of revised targets, as a text tells; '' for what it does not.

    A super over is no method: its balls are in the score.
    """
    found = _WIN.match(" ".join(text[:_LONGEST].split()))
    if found is None:
        return "", "", ""
    method = found["method"] or ""
    return found["winner"], found["by"].rstrip(" .!"), method if _REVISED.search(method) else ""


def outcome_in(text: str) -> str:
    """Return the outcome without a winner that a text names, '' for none."""
    plain = _plain(text)
    return next((outcome for outcome, words in _OUTCOMES if words.search(plain)), "")
