"""What one page tells of one match, checked and bounded: the value that the live rules merge."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from tidemill.verticals.matches.record import Ball, BreakKind, InningsScore, MatchResult, MatchStatus, Team, Toss

MOST_INNINGS = 12
MOST_RUNS = 3_000
MOST_WICKETS = 10
MOST_BALLS = 6_000
MOST_TOLD_BALLS = 1_000
MOST_PLAYERS = 30
LONGEST_TEXT = 300
BALL_LIMITS = {
    "t20": 120,
    "t20i": 120,
    "it20": 120,
    "odi": 300,
    "odm": 300,
    "list a": 300,
    "t10": 60,
    "test": None,
    "mdm": None,
}
"""Legal balls in an innings by kind of match, where a page does not tell."""


class MatchReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says of a match; what it does not say is None or empty.

    `teams` are in the page's own order and `InningsScore.side` counts in it. `confidence` is by group of fields:
    score, status, teams, title, venue, toss, start, series, match_type, weather. `ball_limit` is the number of legal
    balls in an innings, where there is a limit.
    """

    teams: tuple[Team, Team] | None = None
    innings: tuple[InningsScore, ...] = ()
    balls: tuple[Ball, ...] = ()
    status: MatchStatus | None = None
    pause: BreakKind | None = None
    result: MatchResult | None = None
    title: str = ""
    venue: str = ""
    toss: Toss | None = None
    start_time: str = ""
    series: str = ""
    match_type: str = ""
    weather: str = ""
    ball_limit: int | None = None
    rosters: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    confidence: Mapping[str, float] = msgspec.field(default_factory=dict)

    @property
    def progress(self) -> int:
        """How far the match is: innings begun and legal balls bowled."""
        return progress_of(self.innings)

    @property
    def tells_score(self) -> bool:
        """Whether the page says how the match stands: a score, or that there is none yet or none any more."""
        return bool(self.innings) or self.status in {MatchStatus.UPCOMING, MatchStatus.ABANDONED}

    @property
    def starts_at(self) -> datetime | None:
        """When the match starts, if the page tells."""
        return moment_of(self.start_time)


def progress_of(innings: tuple[InningsScore, ...]) -> int:
    """Return how far a match is: innings begun and legal balls bowled."""
    return len(innings) + sum(each.balls for each in innings)


def moment_of(text: str) -> datetime | None:
    """Return the moment of a time in ISO form; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def score_problem(innings: tuple[InningsScore, ...]) -> str:
    """Return why a score cannot be one; '' for a possible one."""
    if len(innings) > MOST_INNINGS:
        return f"{len(innings)} innings"
    for place, each in enumerate(innings, 1):
        if each.number != place:
            return f"innings {each.number} in place of {place}"
        bounds = (
            (each.runs, MOST_RUNS, "runs"),
            (each.wickets, MOST_WICKETS, "wickets"),
            (each.balls, MOST_BALLS, "balls"),
        )
        for value, most, name in bounds:
            if not 0 <= value <= most:
                return f"{value} {name}"
    return ""
