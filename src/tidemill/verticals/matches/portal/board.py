"""What the pages show of a match's state; whatever a state lacks stays empty."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidemill.verticals.matches.merging.state import place_of
from tidemill.verticals.matches.record import SIDES, MatchStatus


class ShownInnings(msgspec.Struct, frozen=True):
    """A line of the scoreboard."""

    team: str
    score: str
    overs: str
    note: str = ""


class ShownBall(msgspec.Struct, frozen=True):
    """A delivery: where it stands and what came of it."""

    place: str
    words: str
    is_wicket: bool = False


class MatchBoard(msgspec.Struct, frozen=True, kw_only=True):
    """A match as its page shows it."""

    title: str
    status: str
    pause: str = ""
    innings: Sequence[ShownInnings] = ()
    balls: Sequence[ShownBall] = ()
    last: str = ""
    result: str = ""
    facts: Sequence[tuple[str, str]] = ()

    @property
    def is_live(self) -> bool:
        """Whether it is in play, breaks included."""
        return self.status == MatchStatus.LIVE


def board_of(key: str, state: Mapping[str, Any]) -> MatchBoard:
    """Return the board of a state."""
    names = {side: team.get("name", "") for side, team in state.get("teams", {}).items()}
    innings = sorted(state.get("innings", {}).items(), key=lambda each: int(each[0]))
    balls = sorted(state.get("balls", {}).items(), key=lambda each: place_of(each[0]), reverse=True)
    return MatchBoard(
        title=state.get("title") or key,
        status=state.get("status", ""),
        pause=state.get("break", ""),
        innings=[_innings(each, names) for _, each in innings],
        balls=[_ball(place, each) for place, each in balls],
        last=state.get("last_event", {}).get("description", ""),
        result=result_words(state.get("result", {})),
        facts=_facts(state),
    )


def score_line(state: Mapping[str, Any]) -> str:
    """Return the score of both teams in short: `Northport 142/3 (20.0), Eastvale 12/0 (1.4)`."""
    score, teams = state.get("score", {}), state.get("teams", {})
    lines = [
        f"{teams.get(side, {}).get('name', side)} {each['runs']}/{each['wickets']} ({each['overs']})"
        for side in SIDES
        if (each := score.get(side))
    ]
    return ", ".join(lines)


def result_words(result: Mapping[str, Any]) -> str:
    """Return how a match ended, in words."""
    won = f"{result['winner']} won" if result.get("winner") else result.get("outcome", "")
    by = f" by {result['by']}" if result.get("by") else ""
    method = f" ({result['method']})" if result.get("method") else ""
    return f"{won}{by}{method}"


def _innings(innings: Mapping[str, Any], names: Mapping[str, str]) -> ShownInnings:
    flags = [name.replace("_", " ") for name in ("declared", "follow_on", "super_over") if innings.get(name)]
    if "target" in innings:
        flags.append(f"target {innings['target']}")
    score = f"{innings['runs']}/{innings['wickets']}"
    return ShownInnings(names.get(innings["team"], ""), score, innings["overs"], ", ".join(flags))


def _ball(place: str, ball: Mapping[str, Any]) -> ShownBall:
    extra = f" {ball['extra']}" if ball.get("extra") else ""
    wicket = f" W {ball['wicket']}" if ball.get("wicket") else ""
    return ShownBall(place.partition(".")[2], f"{ball['runs']}{extra}{wicket}", bool(wicket))


def _facts(state: Mapping[str, Any]) -> list[tuple[str, str]]:
    toss, about = state.get("toss", {}), state.get("metadata", {})
    decision = f", chose to {toss['decision']}" if toss.get("decision") else ""
    told = {
        "Toss": f"{toss['winner']}{decision}" if toss.get("winner") else "",
        "Venue": state.get("venue", ""),
        "Start": state.get("start_time", ""),
        "Series": about.get("series", ""),
        "Kind": about.get("match_type", ""),
    }
    return [(name, text) for name, text in told.items() if text]
