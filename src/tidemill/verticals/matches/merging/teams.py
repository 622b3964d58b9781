"""Whether two sites mean the same teams, whatever they call them and in whichever order."""

import re
import unicodedata

import msgspec

from tidemill.verticals.matches.record import InningsScore, MatchResult, Team
from tidemill.verticals.matches.telling import MatchReading

_NOT_A_WORD = re.compile(r"[^a-z0-9]+")
_LEFT_OUT = {"men", "xi", "cricket", "club", "team", "cc", "the"}


def team_key(name: str) -> str:
    """Return a team's name for comparison: no case, accents, punctuation or filling words."""
    plain = unicodedata.normalize("NFKD", name[:200]).casefold()
    words = _NOT_A_WORD.sub(" ", "".join(each for each in plain if not unicodedata.combining(each))).split()
    return " ".join(word for word in words if word not in _LEFT_OUT) or " ".join(words)


def initials(name: str) -> str:
    """Return the first letters of a name's words."""
    return "".join(word[0] for word in team_key(name).split())


def is_same_team(one: Team, other: Team) -> bool:
    """Return whether two sites mean one team: the same name, or one's short name that fits the other's name."""
    first, second = team_key(one.name), team_key(other.name)
    if first == second:
        return True
    shorts = {team_key(one.short_name), team_key(other.short_name)} - {""}
    return any(fits_short(short, one.name) and fits_short(short, other.name) for short in shorts)


def fits_short(short: str, name: str) -> bool:
    """Return whether a short name may stand for a name: it is the name, its initials, or how it begins."""
    key = team_key(name)
    return len(short) > 1 and (short in {key, initials(name)} or (len(short) > 2 and key.startswith(short)))  # noqa: PLR2004


def order_of(known: tuple[Team, Team], told: tuple[Team, Team]) -> tuple[int, int] | None:
    """Return which of the known teams each told one is; None when they are not the same two."""
    if is_same_team(known[0], told[0]) and is_same_team(known[1], told[1]):
        return (0, 1)
    if is_same_team(known[0], told[1]) and is_same_team(known[1], told[0]):
        return (1, 0)
    return None


def in_order_of(known: tuple[Team, Team] | None, reading: MatchReading) -> MatchReading | None:
    """Return a reading with its teams in the match's own order; None for a reading of another match."""
    if known is None or reading.teams is None:
        return reading
    order = order_of(known, reading.teams)
    if order is None:
        return None
    if order == (0, 1):
        return reading
    return msgspec.structs.replace(
        reading,
        teams=(reading.teams[1], reading.teams[0]),
        innings=tuple(_swapped(each) for each in reading.innings),
    )


def named_team(teams: tuple[Team, Team], name: str) -> Team | None:
    """Return the team that a name means."""
    return next((team for team in teams if is_same_team(team, Team(name, name))), None) if name else None


def with_known_names(result: MatchResult, teams: tuple[Team, Team]) -> MatchResult:
    """Return a result whose winner is named as the match names the team."""
    winner = named_team(teams, result.winner)
    return msgspec.structs.replace(result, winner=winner.name) if winner is not None else result


def _swapped(innings: InningsScore) -> InningsScore:
    return msgspec.structs.replace(innings, side=1 - innings.side)
