"""A match as it was played: every delivery in order, and what happened between them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidemill.verticals.matches.record import BreakKind

NOT_OUT = {"retired hurt", "retired not out"}
"""Ways to leave that are no wicket."""
ILLEGAL = {"wides", "noballs"}


class BowledBall(msgspec.Struct, frozen=True, kw_only=True):
    """One ball as it was bowled, and what followed it before the next one.

    `amended` is what its runs are set to by the scorers a minute later. `penalty` runs go to the batting side,
    `penalty_to_others` to the side that bowls, in the innings that it has played. `pause` is a break after it.
    """

    over: int
    ball: int
    runs: int
    extra: str = ""
    wicket: str = ""
    text: str = ""
    amended: int | None = None
    penalty: int = 0
    penalty_to_others: int = 0
    pause: BreakKind | None = None
    target_after: int | None = None

    @property
    def is_legal(self) -> bool:
        """Whether it counts as one of the six."""
        return self.extra not in ILLEGAL

    @property
    def is_wicket(self) -> bool:
        """Whether somebody is out."""
        return bool(self.wicket) and self.wicket not in NOT_OUT


class PlayedInnings(msgspec.Struct, frozen=True, kw_only=True):
    """An innings; `side` is the place of its team."""

    side: int
    deliveries: tuple[BowledBall, ...]
    is_declared: bool = False
    is_follow_on: bool = False
    is_super_over: bool = False
    target: int | None = None
    pause_after: BreakKind | None = None


class PlayedMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A whole match with all that sites show of it."""

    id: str
    teams: tuple[tuple[str, str], tuple[str, str]]
    innings: tuple[PlayedInnings, ...]
    title: str
    venue: str
    series: str
    match_type: str
    overs: int | None = None
    toss: tuple[str, str] = ("", "")
    result: Mapping[str, str] = msgspec.field(default_factory=dict)
    players: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)
    is_abandoned: bool = False


def short_name(name: str) -> str:
    """Return what scoreboards call a team."""
    words = name.split()
    return "".join(word[0] for word in words).upper() if len(words) > 1 else name[:3].upper()


def from_cricsheet(data: Mapping[str, Any], match_id: str) -> PlayedMatch:
    """Return a match of Cricsheet's JSON."""
    info = data["info"]
    one, two = info["teams"]
    outcome = info.get("outcome", {})
    by = outcome.get("by", {})
    result = {
        "winner": outcome.get("winner", ""),
        "by": " ".join(f"{count} {unit}" for unit, count in by.items()),
        "outcome": outcome.get("result", ""),
        "method": outcome.get("method", ""),
    }
    innings = data["innings"]
    return PlayedMatch(
        id=match_id,
        teams=((one, short_name(one)), (two, short_name(two))),
        title=f"{one} v {two}",
        venue=info.get("venue", ""),
        series=info.get("event", {}).get("name", ""),
        match_type=info.get("match_type", ""),
        overs=info.get("overs"),
        toss=(info["toss"]["winner"], info["toss"]["decision"]),
        result={name: value for name, value in result.items() if value},
        players=info.get("players", {}),
        innings=tuple(
            PlayedInnings(
                side=info["teams"].index(each["team"]),
                deliveries=_deliveries(each["overs"]),
                target=each.get("target", {}).get("runs"),
                is_super_over=each.get("super_over", False),
                is_declared=each.get("declared", False),
                pause_after=BreakKind.INNINGS if place + 1 < len(innings) else None,
            )
            for place, each in enumerate(innings)
        ),
    )


def _deliveries(overs: Sequence[Mapping[str, Any]]) -> tuple[BowledBall, ...]:
    return tuple(
        BowledBall(
            over=over["over"],
            ball=place,
            runs=ball["runs"]["total"],
            extra=next(
                (name for name in ("wides", "noballs", "byes", "legbyes", "penalty") if name in ball.get("extras", {})),
                "",
            ),
            wicket=next((wicket["kind"] for wicket in ball.get("wickets", ())), ""),
            text=f"{ball['bowler']} to {ball['batter']}",
        )
        for over in overs
        for place, ball in enumerate(over["deliveries"], 1)
    )
