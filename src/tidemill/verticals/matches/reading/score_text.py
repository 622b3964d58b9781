"""Scores as scoreboards write them: `187/5 (20.3 ov)`, `412/8d`, `95-3`."""

import re
from typing import NamedTuple

from tidemill.verticals.matches.record import balls_of
from tidemill.verticals.matches.telling import MOST_WICKETS

_LONGEST = 60
_SCORE = re.compile(r"(\d{1,4})(?: ?[/-] ?(\d{1,2}))?( ?d(?:ec)?(?![a-z]))?", re.IGNORECASE)
_OVERS = re.compile(r"(\d{1,3}(?:\.\d)?) ?(?:ov(?:ers)?|\))", re.IGNORECASE)


class WrittenScore(NamedTuple):
    """Runs, wickets and legal balls, each as far as it is written; a score without wickets is all out."""

    runs: int
    wickets: int
    balls: int | None
    is_declared: bool


def read_score(text: str) -> WrittenScore | None:
    """Return the score in a short text; None for none."""
    plain = " ".join(text[:_LONGEST].split())
    found = _SCORE.search(plain)
    if found is None:
        return None
    wickets = int(found[2]) if found[2] else MOST_WICKETS
    overs = _OVERS.search(plain, found.end())
    balls = balls_of(overs[1]) if overs else None
    return WrittenScore(int(found[1]), wickets, balls, bool(found[3])) if wickets <= MOST_WICKETS else None
