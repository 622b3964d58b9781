"""Which match a site's id means: the same two teams at about the same time."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.verticals.matches.merging.teams import is_same_team, order_of, team_key
from tidemill.verticals.matches.record import Team
from tidemill.verticals.matches.telling import moment_of

SAME_START = timedelta(hours=12)
"""Two sites that give starts no further apart mean one match, if the teams are the same."""
KNOWN_WITHIN = timedelta(hours=36)
"""Matches that start within so much of a listed one are compared with it."""
_NOT_IN_A_KEY = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40


class KnownMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match that has a key; `is_recent` when it was first seen within the last hours."""

    key: str
    teams: tuple[Team, Team]
    starts_at: datetime | None = None
    is_recent: bool = True


class ListedMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match as a list names it."""

    source_key: str
    url: str
    title: str
    teams: tuple[Team, Team]
    starts_at: datetime | None = None
    series: str = ""
    match_type: str = ""


class Identified(msgspec.Struct, frozen=True):
    """The match that an id means, '' for a new one; `doubt` says what a person should look at."""

    key: str = ""
    doubt: str = ""


def identified(listed: ListedMatch, known: Sequence[KnownMatch]) -> Identified:
    """Return which known match a listed one is."""
    same = [each for each in known if order_of(each.teams, listed.teams) is not None]
    at_once = [each for each in same if _starts_together(each, listed)]
    if len(at_once) == 1:
        return Identified(at_once[0].key)
    if len(at_once) > 1:
        names = ", ".join(each.key for each in at_once)
        return Identified(doubt=f"may be any of {names}")
    undated = [each for each in same if each.is_recent and (each.starts_at is None or listed.starts_at is None)]
    if len(undated) == 1:
        return Identified(undated[0].key, f"taken for {undated[0].key} by its teams alone; no start is known")
    alike = [each for each in known if _starts_together(each, listed) and _shares_a_team(each, listed)]
    if alike:
        return Identified(doubt=f"may be {', '.join(each.key for each in alike[:3])}: one team is the same")
    return Identified()


def new_key(listed: ListedMatch, now: datetime, taken: Collection[str]) -> str:
    """Return a key for a new match that people can read: its teams and its day."""
    names = [_NOT_IN_A_KEY.sub("-", team_key(team.name)).strip("-")[:_LONGEST_NAME] or "team" for team in listed.teams]
    base = f"{names[0]}-{names[1]}-{listed.starts_at or now:%Y%m%d}"
    if base not in taken:
        return base
    return next(f"{base}-{number}" for number in range(2, len(taken) + 3) if f"{base}-{number}" not in taken)


def listed_match(source_key: str, url: str, title: str, fields: object) -> ListedMatch | None:
    """Return what the rules put into a listed thing's fields; None for what they never would."""
    try:
        raw = msgspec.convert(fields, _ListedFields)
    except msgspec.ValidationError:
        return None
    one, two = raw.teams
    return ListedMatch(
        source_key=source_key,
        url=url,
        title=title,
        teams=(Team(*one), Team(*two)),
        starts_at=moment_of(raw.start_time),
        series=raw.series,
        match_type=raw.match_type,
    )


class _ListedFields(msgspec.Struct, frozen=True):
    teams: tuple[tuple[str, str], tuple[str, str]]
    start_time: str = ""
    series: str = ""
    match_type: str = ""


def _starts_together(known: KnownMatch, listed: ListedMatch) -> bool:
    if known.starts_at is None or listed.starts_at is None:
        return False
    return abs(known.starts_at - listed.starts_at) <= SAME_START


def _shares_a_team(known: KnownMatch, listed: ListedMatch) -> bool:
    return any(is_same_team(one, other) for one in known.teams for other in listed.teams)
