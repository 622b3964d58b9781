"""The two teams of a match in JSON: in a list, or side by side under names that make a pair."""

from collections.abc import Mapping
from typing import Any

from tidemill.verticals.matches.reading.json_values import Fields, list_of, pick, text_of
from tidemill.verticals.matches.telling import LONGEST_TEXT

TEAM_NAMES = ("name", "teamname", "fullname", "longname", "team")
TEAM_SHORTS = ("short_name", "shortname", "abbr", "abbreviation", "code", "teamsname", "namecode")
TEAM_IDS = ("id", "teamid", "team_id", "objectid")
PAIRS = (
    ("team1", "team2"),
    ("teama", "teamb"),
    ("team_a", "team_b"),
    ("hometeam", "awayteam"),
    ("home_team", "away_team"),
    ("localteam", "visitorteam"),
    ("home", "away"),
)
"""Names under which sites keep the one team and the other."""
_LISTS = ("teams", "competitors", "sides")


def lowered(value: Any) -> dict[str, Any]:
    """Return an object's values by lower-case name; an empty one for any other value."""
    return (
        {name.lower(): each for name, each in value.items() if isinstance(name, str)} if isinstance(value, dict) else {}
    )


def both_teams(flat: Mapping[str, Any]) -> tuple[list[Fields], list[dict[str, Any]]]:
    """Return name, short name and id of each team, and all that stands beside it; both empty where none are told."""
    raw = _told(flat)
    short = _short_names(flat)
    teams: list[Fields] = []
    parts: list[dict[str, Any]] = []
    for each in raw[:3]:
        part = _team_part(each)
        if (name := text_of(pick(part, TEAM_NAMES))) != "":
            known = text_of(pick(part, TEAM_SHORTS)) or short.get(name, "")
            told = {"name": name, "short_name": known, "id": text_of(pick(part, TEAM_IDS))}
            teams.append({field: value for field, value in told.items() if value})
            parts.append(part)
    return teams, parts


def pair_of(flat: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the names under which the two teams stand side by side."""
    return next((pair for pair in PAIRS if all(flat.get(name) for name in pair)), None)


def _told(flat: Mapping[str, Any]) -> list[Any]:
    given = pick(flat, _LISTS)
    if isinstance(given, dict):
        return list(given.values())
    if isinstance(given, list):
        return given
    pair = pair_of(flat)
    return [flat[name] for name in pair] if pair else []


def _team_part(each: Any) -> dict[str, Any]:
    """Return what is told of a team; it may stand in an object of its own, beside its score."""
    if isinstance(each, str):
        return {"name": each[:LONGEST_TEXT]}
    part = lowered(each)
    inner = lowered(part.get("team"))
    return {name: value for name, value in part.items() if name != "team"} | inner if inner else part


def _short_names(flat: Mapping[str, Any]) -> dict[str, str]:
    """Return short names that stand in a list apart from the names."""
    parts = [lowered(each) for each in list_of(pick(flat, ("teaminfo", "team_info")))[:3]]
    return {text_of(pick(part, TEAM_NAMES)): text_of(pick(part, TEAM_SHORTS)) for part in parts}
