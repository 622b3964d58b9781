"""What is shared between machines about live things: the names of the keys, and for how long each is kept.

`match` stands for what a vertical calls one of its things. Every key begins with `tidemill:`.

- `match_latest:ID` the newest snapshot: 15 s while it is live, 24 h once it is not
- `match_history:ID` the last five snapshots, the newest first: 1 h
- `match_monitor:ID` how it is watched: for good
- `roster:TEAM` who belongs to a team: 12 h
- `freshness_index` things by the time of their last check (a sorted set): for good
- `paused_matches` things that are left alone for a while (a set): for good
- `health_summary` how live polling fares: 5 s
- `audit_log` the last hundred recoveries, the newest first (a list): for good
- `domain_config:SOURCE` how a source is set up: for good
- `negative_cache:ID` that there is no such thing: 60 s
"""

from collections.abc import Set as AbstractSet
from datetime import timedelta

import msgspec

PREFIX = "tidemill:"
LIVE_KEPT = timedelta(seconds=15)
OVER_KEPT = timedelta(hours=24)
HISTORY_KEPT = timedelta(hours=1)
ROSTER_KEPT = timedelta(hours=12)
SUMMARY_KEPT = timedelta(seconds=5)
MISSING_KEPT = timedelta(seconds=60)
AUDITS_KEPT = 100
FRESHNESS_INDEX = f"{PREFIX}freshness_index"
HEALTH_SUMMARY = f"{PREFIX}health_summary"
AUDIT_LOG = f"{PREFIX}audit_log"


class SharedNames(msgspec.Struct, frozen=True):
    """What a vertical calls one of its things and several of them, and the statuses in which they are live."""

    one: str
    many: str
    live_statuses: AbstractSet[str] = frozenset({"live"})

    def latest(self, key: str) -> str:
        """Return the key of the newest snapshot."""
        return f"{PREFIX}{self.one}_latest:{key}"

    def history(self, key: str) -> str:
        """Return the key of the last snapshots."""
        return f"{PREFIX}{self.one}_history:{key}"

    def monitor(self, key: str) -> str:
        """Return the key of how a thing is watched."""
        return f"{PREFIX}{self.one}_monitor:{key}"

    @property
    def paused(self) -> str:
        """The key of the things that are left alone."""
        return f"{PREFIX}paused_{self.many}"

    def member(self, key: str) -> str:
        """Return what a thing is called in the index of all verticals."""
        return f"{self.one}:{key}"

    def missing(self, key: str) -> str:
        """Return the key that says that there is no such thing."""
        return f"{PREFIX}negative_cache:{self.one}:{key}"

    def kept(self, status: str) -> timedelta:
        """Return for how long a snapshot is kept."""
        return LIVE_KEPT if status in self.live_statuses else OVER_KEPT


def roster(team: str) -> str:
    """Return the key of a team's roster."""
    return f"{PREFIX}roster:{team}"


def source_config(source: str) -> str:
    """Return the key of how a source is set up."""
    return f"{PREFIX}domain_config:{source}"
