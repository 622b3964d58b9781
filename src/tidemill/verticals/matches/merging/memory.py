"""What is remembered of a match while it is watched: what is shown, and what each site said last."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from tidemill.core.live.change import Provenance
from tidemill.core.live.rules import LiveSite
from tidemill.verticals.matches.merging.reliability import SiteReliability
from tidemill.verticals.matches.record import InningsScore, MatchStatus, Team
from tidemill.verticals.matches.telling import MatchReading, progress_of

NO_PLACE = (0, 0, 0)
SHOWN_SCORES = 12
"""Steps of progress of which the scores that were shown are remembered, to compare slower sites with."""


class SiteKey(NamedTuple):
    """A page of a match: one source may list it under two ids, and show commentary or stats on pages of their own."""

    source: str
    source_key: str
    resource: str = "scorecard"


class SiteMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a site said last, and how far it can be believed.

    `reading` is in the match's order of teams. `heard` is the number of the telling at which it was last read well.
    `reach` is the furthest score it ever told. `is_lower` says that it tells less than is shown, `is_contrary` that
    it is no slower and tells a score that was never shown. `lower_since` is when it began to take something back, and
    `recovered_at` when it last stopped doing so; `disputed_since` when it began to tell another score than was shown
    at the same ball, and `is_logged` whether that is in the log of conflicts.
    """

    site: LiveSite
    reading: MatchReading | None = None
    progress: int = 0
    read_at: datetime | None = None
    told_at: datetime | None = None
    heard: int = 0
    is_failing: bool = False
    is_behind: bool = False
    reach: tuple[int, int] = (0, 0)
    is_lower: bool = False
    is_contrary: bool = False
    lower_since: datetime | None = None
    recovered_at: datetime | None = None
    disputed_since: datetime | None = None
    is_logged: bool = False
    reliability: SiteReliability = SiteReliability()


ShownScores = Mapping[int, tuple[tuple[InningsScore, ...], ...]]


class MatchMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A match under watch. `state` is what readers see, None before the first reading; the rest is derived from it.

    `last_ball` is the newest ball that the log has. `shown_scores` are the scores that were shown, by progress.
    """

    key: str
    sites: Mapping[SiteKey, SiteMemory]
    state: Mapping[str, Any] | None = None
    provenance: Mapping[str, Provenance] = msgspec.field(default_factory=dict)
    teams: tuple[Team, Team] | None = None
    innings: tuple[InningsScore, ...] = ()
    status: MatchStatus | None = None
    last_ball: tuple[int, int, int] = NO_PLACE
    shown_scores: ShownScores = msgspec.field(default_factory=dict)
    tellings: int = 0
    began_at: datetime | None = None
    leader: SiteKey | None = None
    rosters: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    @property
    def progress(self) -> int:
        """How far the match is, as shown."""
        return progress_of(self.innings)


def reach_of(innings: tuple[InningsScore, ...]) -> tuple[int, int]:
    """Return how far a score is, extras included: by progress, then by runs and wickets."""
    return progress_of(innings), sum(each.runs + each.wickets for each in innings)


def key_of(site: LiveSite) -> SiteKey:
    """Return the key of a site."""
    return SiteKey(site.source, site.source_key, site.resource)


def with_shown(scores: ShownScores, innings: tuple[InningsScore, ...]) -> ShownScores:
    """Return the remembered scores with one more that is shown."""
    progress = progress_of(innings)
    before = scores.get(progress, ())
    if innings in before:
        return scores
    kept = {step: told for step, told in scores.items() if step > progress - SHOWN_SCORES and step <= progress}
    return {**kept, progress: (*before, innings)}
