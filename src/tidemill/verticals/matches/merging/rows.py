"""What merging hands to the store beside the state: conflicts between sites, and rosters."""

from datetime import datetime

import msgspec


class MatchConflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two sites that disagree on the runs or wickets of an innings by more than 5 %."""

    innings: int
    field: str
    shown_source: str
    shown_value: int
    other_source: str
    other_value: int
    at: datetime


class TeamRoster(msgspec.Struct, frozen=True):
    """The players of a team as a site names them."""

    team: str
    players: tuple[str, ...]
