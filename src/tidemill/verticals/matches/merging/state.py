"""The state that readers see: plain JSON, absent instead of null, balls keyed `innings.over.ball`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.verticals.matches.merging.memory import NO_PLACE
from tidemill.verticals.matches.record import (
    BALLS_PER_OVER,
    SIDES,
    Ball,
    EventKind,
    InningsScore,
    MatchResult,
    Team,
    overs_of,
)

NOT_OUT = {"retired hurt", "retired not out", "retired ill"}
"""Ways to leave that are no wicket."""
OVERS_SHOWN = 2
"""The balls of so many overs stand in the state; the log has every ball for good."""


def teams_json(teams: tuple[Team, Team]) -> dict[str, Any]:
    """Return the teams as readers see them."""
    return {
        side: {"name": team.name} | ({"short_name": team.short_name} if team.short_name else {})
        for side, team in zip(SIDES, teams, strict=True)
    }


def innings_json(innings: InningsScore) -> dict[str, Any]:
    """Return an innings as readers see it."""
    shown: dict[str, Any] = {
        "team": SIDES[innings.side],
        "runs": innings.runs,
        "wickets": innings.wickets,
        "balls": innings.balls,
        "overs": overs_of(innings.balls),
    }
    flags = {"declared": innings.is_declared, "follow_on": innings.is_follow_on, "super_over": innings.is_super_over}
    shown |= {name: True for name, holds in flags.items() if holds}
    return shown | ({"target": innings.target} if innings.target is not None else {})


def score_json(innings: Sequence[InningsScore]) -> dict[str, Any]:
    """Return the current innings of each team, as the seed's `score.team_a` and `score.team_b`."""
    latest = {each.side: each for each in innings}
    return {
        SIDES[side]: {"runs": each.runs, "wickets": each.wickets, "overs": overs_of(each.balls), "balls": each.balls}
        for side, each in sorted(latest.items())
    }


def ball_json(ball: Ball) -> dict[str, Any]:
    """Return a ball as readers see it."""
    shown: dict[str, Any] = {"runs": ball.runs}
    return shown | {name: value for name, value in (("extra", ball.extra), ("wicket", ball.wicket)) if value}


def result_json(result: MatchResult) -> dict[str, Any]:
    """Return a result as readers see it."""
    return {name: value for name, value in msgspec.structs.asdict(result).items() if value}


def event_json(ball: Ball, innings: InningsScore | None, at: datetime) -> dict[str, Any]:
    """Return the last ball as the last event."""
    ends_over = ball.is_legal and innings is not None and innings.balls % BALLS_PER_OVER == 0 and innings.balls > 0
    is_out = bool(ball.wicket) and ball.wicket.casefold() not in NOT_OUT
    kind = EventKind.WICKET if is_out else EventKind.OVER_COMPLETE if ends_over else EventKind.RUNS
    return {"type": kind.value, "description": ball.text or described(ball), "timestamp": at.isoformat()}


def described(ball: Ball) -> str:
    """Return a ball in words."""
    runs = f"{ball.runs} run{'' if ball.runs == 1 else 's'}" if ball.runs else "no run"
    words = [f"{ball.over}.{ball.ball}", f"{runs} ({ball.extra})" if ball.extra else runs]
    return ", ".join([*words, *([ball.wicket] if ball.wicket else [])])


def guessed_event(before: Sequence[InningsScore], after: Sequence[InningsScore], at: datetime) -> dict[str, Any] | None:
    """Return the last event by what the score did, where no site tells the balls; None if it did nothing."""
    if not after:
        return None
    last = after[-1]
    same = next((each for each in before if each.number == last.number), None)
    runs, wickets, balls = (same.runs, same.wickets, same.balls) if same else (0, 0, 0)
    if (last.runs, last.wickets, last.balls) == (runs, wickets, balls):
        return None
    if last.wickets > wickets:
        kind, words = EventKind.WICKET, f"wicket, {last.runs}/{last.wickets}"
    elif last.runs < runs or last.balls < balls or last.wickets < wickets:
        kind, words = EventKind.RUNS, f"corrected to {last.runs}/{last.wickets} in {overs_of(last.balls)} overs"
    elif last.balls > balls and last.balls % BALLS_PER_OVER == 0:
        kind, words = EventKind.OVER_COMPLETE, f"end of over {last.balls // BALLS_PER_OVER}, {last.runs}/{last.wickets}"
    else:
        kind, words = EventKind.RUNS, f"{last.runs - runs} runs, {last.runs}/{last.wickets}"
    return {"type": kind.value, "description": words, "timestamp": at.isoformat()}


def place_of(key: str) -> tuple[int, int, int]:
    """Return where a ball of a state stands."""
    innings, over, ball = key.split(".")
    return (int(innings), int(over), int(ball))


def innings_of_state(state: Mapping[str, Any]) -> tuple[InningsScore, ...]:
    """Return the score of a state that was stored."""
    return tuple(
        InningsScore(
            number=int(number),
            side=SIDES.index(each["team"]),
            runs=each["runs"],
            wickets=each["wickets"],
            balls=each["balls"],
            is_declared=each.get("declared", False),
            is_follow_on=each.get("follow_on", False),
            is_super_over=each.get("super_over", False),
            target=each.get("target"),
        )
        for number, each in sorted(state.get("innings", {}).items(), key=lambda each: int(each[0]))
    )


def teams_of_state(state: Mapping[str, Any]) -> tuple[Team, Team] | None:
    """Return the teams of a state that was stored."""
    teams = state.get("teams")
    if not teams:
        return None
    one, two = (Team(teams[side]["name"], teams[side].get("short_name", "")) for side in SIDES)
    return (one, two)


def last_place(balls: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the newest ball of a state."""
    return max(map(place_of, balls), default=NO_PLACE)
