"""A match as readers get it: teams, the score of each innings, and how it stands."""

from enum import StrEnum

import msgspec

BALLS_PER_OVER = 6
SIDES = ("team_a", "team_b")


class MatchStatus(StrEnum):
    """How a match stands; a match on a break is live."""

    UPCOMING = "upcoming"
    LIVE = "live"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class BreakKind(StrEnum):
    """Why nobody plays although the match goes on."""

    INNINGS = "innings"
    LUNCH = "lunch"
    TEA = "tea"
    DRINKS = "drinks"
    STUMPS = "stumps"
    RAIN = "rain"
    OTHER = "other"


class EventKind(StrEnum):
    """What the last ball was."""

    RUNS = "runs"
    WICKET = "wicket"
    OVER_COMPLETE = "over_complete"


class Team(msgspec.Struct, frozen=True):
    """A team, and what scoreboards call it."""

    name: str
    short_name: str = ""


class InningsScore(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one innings; `side` is 0 for team A and 1 for team B, `balls` are the legal ones."""

    number: int
    side: int
    runs: int = 0
    wickets: int = 0
    balls: int = 0
    is_declared: bool = False
    is_follow_on: bool = False
    is_super_over: bool = False
    target: int | None = None


class Ball(msgspec.Struct, frozen=True, kw_only=True):
    """One delivery. `ball` counts every delivery of the over, `is_legal` says whether it counts as one of the six."""

    innings: int
    over: int
    ball: int
    runs: int
    is_legal: bool = True
    extra: str = ""
    wicket: str = ""
    text: str = ""

    @property
    def place(self) -> tuple[int, int, int]:
        """Where in the match it stands."""
        return (self.innings, self.over, self.ball)

    @property
    def key(self) -> str:
        """Its key in a state: `innings.over.ball`."""
        return f"{self.innings}.{self.over}.{self.ball}"


class Toss(msgspec.Struct, frozen=True):
    """Who won the toss, and chose to bat or to field."""

    winner: str
    decision: str = ""


class MatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a match ended, as the source says it; `method` is what revised the target, such as D/L."""

    winner: str = ""
    outcome: str = ""
    by: str = ""
    method: str = ""


class MatchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A match with all that one page tells of it."""

    match_id: str
    domain_id: str
    title: str
    status: MatchStatus
    team_a: Team
    team_b: Team
    innings: tuple[InningsScore, ...] = ()
    pause: BreakKind | None = None
    toss: Toss | None = None
    venue: str = ""
    start_time: str = ""
    series: str = ""
    match_type: str = ""
    weather: str = ""
    result: MatchResult | None = None


def overs_of(balls: int) -> str:
    """Return legal balls as overs are written: 75 balls are 12.3 overs."""
    return f"{balls // BALLS_PER_OVER}.{balls % BALLS_PER_OVER}"


def balls_of(overs: str) -> int | None:
    """Return the legal balls in overs as they are written, in base 6; None for what is no number of overs.

    Six balls in the fraction are a whole over: some scoreboards write 12.6 before 13.
    """
    whole, _, part = overs.strip().partition(".")
    if not whole.isdecimal() or (part and not part.isdecimal()) or len(whole) > 3 or len(part) > 1:  # noqa: PLR2004
        return None
    rest = int(part or 0)
    return int(whole) * BALLS_PER_OVER + rest if rest <= BALLS_PER_OVER else None
