"""Innings that a page tells by team: `team1Score: {...}`, or a score beside each team's name.

Which of them was first is told by their numbers, by the toss, by how the match was won, or by which of them is over.
Where nothing tells, there is no score: a wrong order would be a wrong match.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.verticals.matches.reading.innings_json import NUMBERS, innings_fields
from tidemill.verticals.matches.reading.json_values import Fields, count_of, list_of, pick, text_of
from tidemill.verticals.matches.reading.teams_json import lowered, pair_of
from tidemill.verticals.matches.telling import MOST_INNINGS, MOST_WICKETS

_TEXTS = ("scores_full", "scorefull", "score", "scores")
_OVERS = ("overs", "scoreinfo", "score_info")
_SEVERAL = "&"
_DEPTH = 3


def innings_by_team(
    flat: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], first: int | None, limit: int | None
) -> list[Fields]:
    """Return the innings of two teams in the order in which they were played, none if that is not certain.

    `first` is the side that batted first by the toss or the result, `limit` the legal balls of an innings.
    """
    told = [_side(flat, part, side) for side, part in enumerate(parts[:2])]
    numbered = [pair for side in told for pair in side]
    if len(numbered) > MOST_INNINGS:
        return []
    numbers = [number for number, _ in numbered]
    if sorted(number or 0 for number in numbers) == list(range(1, len(numbered) + 1)):
        return [fields for _, fields in sorted(numbered, key=_number)]
    if any(_is_half_read(part, side) for part, side in zip(parts, told, strict=False)):
        return []  # one that is left out would put another in its place
    if len(numbered) > 1:
        told = [[pair for pair in side if _has_begun(pair[1])] for side in told]
        numbered = [pair for side in told for pair in side]
    if len(numbered) == 1:
        return [numbered[0][1]] if numbered[0][0] is None else []
    if [len(side) for side in told] != [1, 1]:
        return []
    one, other = told[0][0][1], told[1][0][1]
    begins = first if first is not None else _first_by_score(one, other, limit)
    return [] if begins is None else [one, other] if begins == 0 else [other, one]


def _side(flat: Mapping[str, Any], part: Mapping[str, Any], side: int) -> list[tuple[int | None, Fields]]:
    """Return the innings of one team, each with its number in the match if that is told."""
    found = [
        (count_of(each, *NUMBERS), fields)
        for each in _scored(_score_of(flat, side), _DEPTH)
        if (fields := innings_fields(each | {"side": side}, ((), ()))) is not None
    ]
    return found or _written(part, side)


def _score_of(flat: Mapping[str, Any], side: int) -> Any:
    """Return what stands under the name of the team and the word score: `team1Score`, `homeScore`."""
    pair = pair_of(flat)
    stems = [pair[side], pair[side].removesuffix("team").removesuffix("_")] if pair else []
    stems += [("team1", "team2")[side], ("home", "away")[side]]
    return next((flat[name] for stem in stems for name in (f"{stem}score", f"{stem}_score") if flat.get(name)), None)


def _scored(value: Any, depth: int) -> list[dict[str, Any]]:
    """Return the objects that tell overs, be they in parts or lists."""
    if depth == 0:
        return []
    if isinstance(value, list):
        return [found for each in value[:MOST_INNINGS] for found in _scored(each, depth - 1)]
    part = lowered(value)
    if not part:
        return []
    if pick(part, ("overs", "balls", "o")) is not None:
        return [part]
    return [found for each in list(part.values())[:MOST_INNINGS] for found in _scored(each, depth - 1)]


def _written(part: Mapping[str, Any], side: int) -> list[tuple[int | None, Fields]]:
    """Return the innings that is written beside a team's name, such as `183/7 (20 ov)`."""
    score = text_of(pick(part, _TEXTS))
    overs = re.match(r"\(?(\d{1,3}(?:\.\d)?)\b", text_of(pick(part, _OVERS)))
    told = {"side": side, "score": score} | ({"overs": overs[1]} if overs else {})
    fields = innings_fields(told, ((), ())) if score else None
    numbers = list_of(pick(part, ("inningnumbers", "inningsnumbers")))
    number = numbers[0] if len(numbers) == 1 and isinstance(numbers[0], int) else None
    return [(number, fields)] if fields else []


def _first_by_score(one: Fields, other: Fields, limit: int | None) -> int | None:
    """Return which of two innings was first: the one that is over while the other is behind it and goes on.

    Who is all out in the second innings may look like the first to end where overs were cut, but has no more runs.
    """
    ended = [_is_over(each, limit) for each in (one, other)]
    if ended[0] is ended[1] or one["runs"] == other["runs"]:
        return None
    first = ended.index(True)
    return first if (one, other)[first]["runs"] > (one, other)[1 - first]["runs"] else None


def _is_over(fields: Fields, limit: int | None) -> bool:
    return fields["wickets"] == MOST_WICKETS or (limit is not None and fields["balls"] >= limit)


def _is_half_read(part: Mapping[str, Any], side: Sequence[Any]) -> bool:
    """Return whether a score is written beside a team's name that cannot be read, or of which innings it is several."""
    text = text_of(pick(part, _TEXTS))
    return _SEVERAL in text or (not side and any(char.isdecimal() for char in text))


def _has_begun(fields: Fields) -> bool:
    return bool(fields["runs"] or fields["wickets"] or fields["balls"])


def _number(pair: tuple[int | None, Fields]) -> int:
    return pair[0] or 0
