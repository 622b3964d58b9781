"""Whether two sites mean the same teams, whatever they call them and in whichever order."""

import re
import unicodedata
from functools import lru_cache

import msgspec

from tidemill.verticals.matches.record import InningsScore, MatchResult, Team
from tidemill.verticals.matches.telling import MatchReading

NAMES_KEPT = 20_000
"""Names of which the forms are remembered: a list of hundreds of matches is compared with all that are known."""
_LETTERS = "LNM"
"""What names are made of in any script, vowel signs included; accents go before."""
_LEFT_OUT = {"men", "mens", "xi", "cricket", "club", "team", "cc", "the"}
_SPELT = {
    "w": "women", "women": "women", "womens": "women", "ladies": "women", "female": "women", "girls": "women",
    "a": "a", "b": "b", "ii": "2nd", "2nd": "2nd", "second": "2nd", "iii": "3rd", "3rd": "3rd", "third": "3rd",
    "emerging": "emerging", "lions": "lions", "academy": "academy", "legends": "legends", "masters": "masters",
}  # fmt: skip
"""Words that make another team of a name, as we spell them: England Women, England A and England Lions are three."""
_AGE = re.compile(r"\bu(?:nder)? ?(\d\d)s?\b")


@lru_cache(maxsize=NAMES_KEPT)
def team_key(name: str) -> str:
    """Return a team's name for comparison, in any script: no case, accents, punctuation or filling words."""
    words = _words_of(name)
    return " ".join(word for word in words if word not in _LEFT_OUT) or " ".join(words)


def _words_of(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", name[:200].replace("'", "").replace("\u2019", "")).casefold()
    letters = (each for each in plain if not unicodedata.combining(each))
    return "".join(each if unicodedata.category(each)[0] in _LETTERS else " " for each in letters).split()


@lru_cache(maxsize=NAMES_KEPT)
def parted(name: str) -> tuple[str, frozenset[str]]:
    """Return a team's name without what sets it apart from others of that name, and that: women, an age, an A team."""
    plain = " ".join(_words_of(name))
    kinds = {f"u{age}" for age in _AGE.findall(plain)}
    first, *words = _AGE.sub(" ", plain).split() or [""]
    kinds |= {_SPELT[word] for word in words if word in _SPELT}
    return " ".join([first, *(word for word in words if word not in _SPELT)]), frozenset(kinds)


@lru_cache(maxsize=NAMES_KEPT)
def initials(name: str) -> str:
    """Return the first letters of a name's words."""
    return "".join(word[0] for word in team_key(name).split())


@lru_cache(maxsize=NAMES_KEPT)
def could_be(name: str, short_name: str) -> frozenset[str]:
    """Return what a team may be called: two that share none of it, nor the beginning of a name, are two teams."""
    keys = {team_key(name), team_key(short_name), parted(name)[0], initials(name)} - {""}
    return frozenset(keys | {key[:3] for key in keys})


def is_same_team(one: Team, other: Team) -> bool:
    """Return whether two sites mean one team: the same name, or one's short name that fits the other's name.

    Short names say nothing of women, ages and second elevens, which often play on the same day.
    """
    if team_key(one.name) and could_be(*_names(one)).isdisjoint(could_be(*_names(other))):
        return False
    if team_key(one.name) == team_key(other.name):
        return bool(team_key(one.name)) or one.name == other.name
    (first, kind), (second, other_kind) = parted(one.name), parted(other.name)
    if kind != other_kind:
        return False
    if kind and first == second:
        return True
    shorts = {team_key(one.short_name), team_key(other.short_name)} - {""}
    return any(fits_short(short, one.name) and fits_short(short, other.name) for short in shorts)


def _names(team: Team) -> tuple[str, str]:
    return team.name, team.short_name


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
