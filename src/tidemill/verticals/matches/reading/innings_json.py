"""The innings of a match in JSON: in the order in which they were played, and of which side."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.verticals.matches.reading.json_values import Fields, count_of, pick, text_of
from tidemill.verticals.matches.reading.score_text import read_score
from tidemill.verticals.matches.reading.teams_json import TEAM_IDS, TEAM_NAMES, TEAM_SHORTS
from tidemill.verticals.matches.record import balls_of

NUMBERS = (
    "number", "inningsnumber", "innings_number", "inningnumber", "inningsid", "innings_id", "inningsno",
    "inning", "order", "period",
)  # fmt: skip
_BATTING_IDS = ("batteamid", "battingteamid", "teamid", "team_id", "batting_team_id")
_BATTING = ("team", "batteam", "batteamsname", "battingteam", "batteamname", "side")
_NAMED = re.compile(r"(?P<team>\S.{0,100}?),? (?:(?:1st|2nd|3rd|4th|first|second) )?innings?(?: \d)?$", re.IGNORECASE)
"""An innings that is called by its team, such as `Northport Inning 1`."""


def all_innings(told: Sequence[Any], known: Sequence[Sequence[str]]) -> list[Fields]:
    """Return the innings in the order in which they were played: by their numbers where they are numbered 1, 2, 3."""
    flats = [{name.lower(): each for name, each in raw.items()} for raw in told if isinstance(raw, dict)]
    numbers = [count_of(flat, *NUMBERS) for flat in flats]
    if sorted(number or 0 for number in numbers) == list(range(1, len(flats) + 1)):
        flats = [flat for _, flat in sorted(zip(numbers, flats, strict=True), key=_number)]
    return [each for flat in flats if (each := innings_fields(flat, known))]


def innings_fields(flat: Mapping[str, Any], known: Sequence[Sequence[str]]) -> Fields | None:
    """Return one innings; None when it tells no score or of nobody that plays."""
    side = side_of(pick(flat, _BATTING), known)
    if side is None:
        side = side_of(text_of(pick(flat, _BATTING_IDS)), known)
    if side is None and (named := _NAMED.match(text_of(pick(flat, ("inning", "innings", "name", "title"))))):
        side = side_of(named["team"], known)
    runs, wickets, balls = count_of(flat, "runs", "r"), count_of(flat, "wickets", "wkts", "w"), _balls_bowled(flat)
    if runs is None and (written := read_score(text_of(flat.get("score")))):
        runs, wickets = written.runs, written.wickets if wickets is None else wickets
        balls = balls if balls is not None else written.balls
    if side is None or runs is None or balls is None:
        return None
    found: Fields = {"side": side, "runs": runs, "wickets": wickets or 0, "balls": balls}
    flags = {"declared": ("declared", "isdeclared"), "follow_on": ("followon", "follow_on", "isfollowon"),
             "super_over": ("superover", "super_over", "issuperover")}  # fmt: skip
    found |= {name: True for name, words in flags.items() if pick(flat, words) is True}
    target = count_of(flat, "target")
    return found | ({"target": target} if target else {})


def side_of(told: Any, known: Sequence[Sequence[str]]) -> int | None:
    """Return which of two teams a name, a short name, an id of the page's own or a place means.

    `known` are the names, short names and ids of both.
    """
    if isinstance(told, dict):
        told = pick({name.lower(): value for name, value in told.items()}, (*TEAM_NAMES, *TEAM_SHORTS, *TEAM_IDS))
    if isinstance(told, bool) or told is None:
        return None
    word = text_of(told).casefold()
    if isinstance(told, int) and word not in known[-1]:
        return told if told in {0, 1} else None
    for each in known:
        folded = [name.casefold() for name in each]
        if word and word in folded and folded[0] != folded[1]:
            return folded.index(word)
    return None


def _number(pair: tuple[int | None, Fields]) -> int:
    return pair[0] or 0


def _balls_bowled(flat: Mapping[str, Any]) -> int | None:
    legal = count_of(flat, "balls", "legal_balls", "legalballs")
    if legal is not None:
        return legal
    overs = pick(flat, ("overs", "o"))
    if overs is None:
        overs = flat.get("overs", flat.get("o"))  # none are bowled yet
    return balls_of(text_of(overs)) if isinstance(overs, str | int | float) else None
