"""The fields of a raw match: what adapters may yield, and the checked value that comes of them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.verticals.matches.reading.status_words import break_in, match_status, outcome_in, pause_of, win_in
from tidemill.verticals.matches.record import Ball, InningsScore, MatchResult, Team, Toss
from tidemill.verticals.matches.telling import (
    BALL_LIMITS,
    LONGEST_TEXT,
    MOST_INNINGS,
    MOST_PLAYERS,
    MOST_TOLD_BALLS,
    MatchReading,
    moment_of,
    score_problem,
)


class RawTeam(msgspec.Struct, frozen=True):
    """A team as a page names it."""

    name: str
    short_name: str = ""


class RawInnings(msgspec.Struct, frozen=True):
    """An innings as a page tells it; `side` is the place of its team in the page's list."""

    side: int
    runs: int
    wickets: int
    balls: int
    declared: bool = False
    follow_on: bool = False
    super_over: bool = False
    target: int | None = None


class RawBall(msgspec.Struct, frozen=True):
    """A delivery as a page tells it."""

    innings: int
    over: int
    ball: int
    runs: int
    legal: bool = True
    extra: str = ""
    wicket: str = ""
    text: str = ""


class RawMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match as a page tells it, a list entry or a whole page; `confidence` is by group of fields."""

    id: str = ""
    url: str = ""
    title: str = ""
    status: str = ""
    pause: str = ""
    teams: list[RawTeam] = []
    innings: list[RawInnings] = []
    balls: list[RawBall] = []
    toss_winner: str = ""
    toss_decision: str = ""
    venue: str = ""
    start: str = ""
    series: str = ""
    match_type: str = ""
    weather: str = ""
    winner: str = ""
    outcome: str = ""
    by: str = ""
    method: str = ""
    ball_limit: int | None = None
    players: dict[str, list[str]] = {}
    resource: str = "scorecard"
    confidence: dict[str, float] = {}


class BadMatch(ValueError):
    """A raw match that cannot be one; the message says why."""


_MAX_SMALL = 10_000


def raw_match(fields: Mapping[str, Any]) -> RawMatch:
    """Return the fields checked; raise `BadMatch` for what cannot be a match's."""
    try:
        return msgspec.convert(fields, RawMatch)
    except msgspec.ValidationError as error:
        msg = f"not a match: {error}"
        raise BadMatch(msg) from error


def reading_of(raw: RawMatch, sure: float = 1.0) -> MatchReading:
    """Return what a raw match tells; raise `BadMatch` for a score that cannot be one."""
    innings = tuple(_innings(number, each) for number, each in enumerate(raw.innings[: MOST_INNINGS + 1], 1))
    if problem := score_problem(innings):
        msg = f"not a score: {problem}"
        raise BadMatch(msg)
    if raw.teams and len(raw.teams) != 2:  # noqa: PLR2004
        msg = f"{len(raw.teams)} teams"
        raise BadMatch(msg)
    status = match_status(raw.status) if raw.status else None
    groups = ("score", "status", "title", "venue", "toss", "start_time", "series", "match_type", "weather")
    return MatchReading(
        teams=(_team(raw.teams[0]), _team(raw.teams[1])) if raw.teams else None,
        innings=innings,
        balls=tuple(_balls(raw.balls, len(innings))),
        status=status,
        pause=pause_of(raw.pause) or break_in(raw.status),
        result=_result(raw),
        title=short(raw.title),
        venue=short(raw.venue),
        toss=Toss(short(raw.toss_winner), short(raw.toss_decision)) if raw.toss_winner else None,
        start_time=_moment(raw.start),
        series=short(raw.series),
        match_type=short(raw.match_type),
        weather=short(raw.weather),
        ball_limit=raw.ball_limit if raw.ball_limit is not None else BALL_LIMITS.get(raw.match_type.casefold()),
        rosters={
            short(team): tuple(short(name) for name in names[:MOST_PLAYERS])
            for team, names in list(raw.players.items())[:2]
        },
        confidence={name: min(1.0, max(0.0, raw.confidence.get(name, sure))) for name in groups},
    )


def short(text: str) -> str:
    """Return a text bounded, on one line, and without what no database takes."""
    return " ".join(text[:LONGEST_TEXT].replace("\x00", " ").encode("utf-8", "replace").decode().split())


def _team(raw: RawTeam) -> Team:
    if not (name := short(raw.name)):
        msg = "a team without a name"
        raise BadMatch(msg)
    return Team(name, short(raw.short_name))


def _innings(number: int, raw: RawInnings) -> InningsScore:
    if raw.side not in {0, 1}:
        msg = f"an innings of team {raw.side}"
        raise BadMatch(msg)
    return InningsScore(
        number=number,
        side=raw.side,
        runs=raw.runs,
        wickets=raw.wickets,
        balls=raw.balls,
        is_declared=raw.declared,
        is_follow_on=raw.follow_on,
        is_super_over=raw.super_over,
        target=raw.target,
    )


def _balls(balls: list[RawBall], innings: int) -> list[Ball]:
    """The balls that can be; a page's list of balls is worth less than its score, so that a bad one is left out."""
    return [
        Ball(
            innings=raw.innings, over=raw.over, ball=raw.ball, runs=raw.runs, is_legal=raw.legal,
            extra=short(raw.extra), wicket=short(raw.wicket), text=short(raw.text),
        )
        for raw in balls[-MOST_TOLD_BALLS:]
        if 1 <= raw.innings <= innings and 0 <= raw.over < _MAX_SMALL and 1 <= raw.ball < 100 and 0 <= raw.runs < 100  # noqa: PLR2004
    ]  # fmt: skip


def _result(raw: RawMatch) -> MatchResult | None:
    winner, by, method = raw.winner, raw.by, raw.method
    outcome = outcome_in(raw.outcome) or raw.outcome or outcome_in(raw.status)
    if not winner:
        told = [win for text in (raw.outcome, raw.status) if (win := win_in(text))[0]]
        if told:
            (winner, by, method), outcome = told[0], outcome_in(raw.outcome)
    if not (winner or outcome or by):
        return None
    return MatchResult(winner=short(winner), outcome=short(outcome).casefold(), by=short(by), method=short(method))


def _moment(text: str) -> str:
    moment = moment_of(text[:LONGEST_TEXT])
    return moment.isoformat() if moment is not None else ""
