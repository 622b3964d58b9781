"""Whose fault it is that nothing answers: when no host at all can be reached, our own network is away."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from tidemill.core.failure import Failure

UNREACHED = frozenset({Failure.TIMED_OUT, Failure.CONNECTION_LOST, Failure.DNS_FAILED})
"""Failures that a cut cable brings about just as a dead site does."""
COUNTS_FOR = timedelta(seconds=60)
"""How long the last answer of a host, or its silence, says anything."""
LEAST_HOSTS = 2


class LastAsked(NamedTuple):
    """When a host was last asked, and since when it cannot be reached: None for one that was."""

    at: datetime
    silent_since: datetime | None = None


class Reachability(msgspec.Struct, frozen=True):
    """The hosts that were asked of late, and when any of them last answered."""

    hosts: Mapping[str, LastAsked] = msgspec.field(default_factory=dict)
    answered_at: datetime | None = None


def after_asking(known: Reachability, host: str, failure: Failure | None, now: datetime) -> Reachability:
    """Return what is known after a host was asked: anything that it answers means that it can be reached."""
    recent = {name: asked for name, asked in known.hosts.items() if now - asked.at < COUNTS_FOR}
    if failure not in UNREACHED:
        return Reachability({**recent, host: LastAsked(now)}, now)
    before = recent.get(host)
    since = now if before is None or before.silent_since is None else before.silent_since
    return Reachability({**recent, host: LastAsked(now, since)}, known.answered_at)


def is_our_network_away(known: Reachability) -> bool:
    """Return whether nobody can be reached: several hosts, and none of them. One host alone may be dead itself.

    A cut is known before every host was asked again: several that fell silent since anybody answered are enough. One
    that is silent although others answered meanwhile is dead itself and says nothing.
    """
    silent = [asked.silent_since for asked in known.hosts.values() if asked.silent_since is not None]
    if len(silent) < LEAST_HOSTS:
        return False
    fell = [since for since in silent if known.answered_at is None or since > known.answered_at]
    return len(silent) == len(known.hosts) or len(fell) >= LEAST_HOSTS
