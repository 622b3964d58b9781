"""Policies: what a vertical promises about cadence, patience and memory, as presets that are checked."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from tidemill.core.breaker import BreakerPolicy
from tidemill.core.failure import Failure
from tidemill.core.freshness import Fading, fading_troubles
from tidemill.core.pacing import Pace
from tidemill.core.retry import BRIEF, BROWSER_WORK, DATABASE_WRITE, Jitter, RetryPolicy

DAY = timedelta(days=1)

_MINUTE = timedelta(minutes=1)
_SERVER = RetryPolicy(4, _MINUTE, 4 * _MINUTE, Jitter.NONE)
_NETWORK = RetryPolicy(4, _MINUTE / 2, 2 * _MINUTE, Jitter.NONE)
LANES: Mapping[str, Mapping[Failure, RetryPolicy]] = {
    "apify": {
        Failure.TIMED_OUT: RetryPolicy(3, _MINUTE, _MINUTE, Jitter.NONE),
        Failure.RATE_LIMITED: RetryPolicy(4, 5 * _MINUTE, 5 * _MINUTE, Jitter.NONE),
        Failure.SERVER_ERROR: _SERVER,
        Failure.CONNECTION_LOST: _NETWORK,
        Failure.TRUNCATED_BODY: _NETWORK,
    },
    "browser": dict.fromkeys(
        (Failure.BROWSER_LOST, Failure.TIMED_OUT, Failure.CONNECTION_LOST, Failure.TRUNCATED_BODY), BROWSER_WORK
    ),
}
"""Lanes whose work is dearer than a page: how often, and how soon, each failure is tried again there.

An actor that ran out of time is tried twice more, after any other failure three times more.
"""


class BadPolicy(ValueError):
    """A policy that contradicts itself and is refused at start; the message says which numbers disagree."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How one vertical is scraped and how long what it knows holds.

    `cycle` is the usual time between two scrapes of a target, `tiers` the same by tier. `fades_after` is the time
    without a sighting after which a record is hidden, `fading` how its confidence falls until then, `snapshot_ttl`
    how long a served value counts as fresh,
    `missing_runs` how many complete runs in a row must not see a record before it counts as gone, `max_pages` how far
    a list is followed over its pages; a source may set its own.

    `cron_zone` is the time zone of its cron lines, the source's own unless it is named; `always_admitted` work goes
    past a full queue.
    """

    name: str
    schedule: str
    cycle: timedelta
    tiers: Mapping[str, timedelta] = msgspec.field(default_factory=dict)
    retry: RetryPolicy = BRIEF
    retries: Mapping[Failure, RetryPolicy] = msgspec.field(default_factory=dict)
    breaker: BreakerPolicy = BreakerPolicy()
    pace: Pace = Pace()
    timeout: timedelta = timedelta(seconds=30)
    max_page_bytes: int = 10_000_000
    job_limit: timedelta = timedelta(minutes=30)
    stale_after: timedelta = DAY
    fades_after: timedelta | None = None
    fading: Fading | None = None
    snapshot_ttl: timedelta | None = None
    missing_runs: int = 2
    max_pages: int = 1
    needs_approval: bool = False
    cron_zone: str = ""
    always_admitted: bool = False

    def retry_for(self, failure: Failure, lane: str = "http") -> RetryPolicy:
        """The retry policy for a kind of failure; some lanes have their own."""
        if failure is Failure.WRITE_FAILED:
            return DATABASE_WRITE
        of_lane = LANES.get(lane, {}).get(failure)
        return of_lane or self.retries.get(failure, self.retry)


def contradictions(policy: Policy) -> list[str]:
    """Everything about the policy that cannot work, in words for the person who set it."""
    longest_cycle = max([policy.cycle, *policy.tiers.values()])
    found = []
    if policy.fades_after is not None and policy.fades_after < 2 * longest_cycle:
        found.append(
            f"records fade after {policy.fades_after} without a sighting, but a target is only scraped every "
            f"{longest_cycle}: one missed scrape would hide everything; let them last for two cycles or more"
        )
    if policy.fading is not None:
        found += fading_troubles(policy.fading, policy.tiers)
    if policy.snapshot_ttl is not None and policy.snapshot_ttl < policy.cycle:
        found.append(f"a snapshot expires after {policy.snapshot_ttl}, before the next scrape ({policy.cycle}) comes")
    if policy.stale_after < policy.job_limit:
        found.append(f"jobs count as stale after {policy.stale_after}, while one may run for {policy.job_limit}")
    if policy.job_limit < policy.timeout * policy.retry.attempts:
        found.append(f"a job may run for {policy.job_limit}, less than its time-outs of {policy.timeout} add up to")
    if policy.max_pages < 1:
        found.append("a list has at least one page; let `max_pages` be 1 or more")
    if policy.missing_runs < 1:
        found.append("a record must be missed by at least one complete run before it counts as gone")
    return found


def checked(policy: Policy) -> Policy:
    """The policy itself, or a refusal that lists every contradiction."""
    if found := contradictions(policy):
        msg = f"the policy {policy.name!r} contradicts itself: " + "; ".join(found)
        raise BadPolicy(msg)
    return policy


def freshness_debt(targets: int, pace: Pace, cycle: timedelta) -> timedelta:
    """By how much a host's targets outrun its pace: over zero, they cannot all be fresh within a cycle."""
    return max(timedelta(0), pace.interval * targets - cycle)


AGENDA = Policy(name="agenda", schedule="0 6 * * *", cycle=DAY, fades_after=7 * DAY, max_pages=20)
"""Pages that change by the day: what is on, where and when."""

MONITOR = Policy(name="monitor", schedule="0 */4 * * *", cycle=timedelta(hours=4), needs_approval=True, cron_zone="UTC")
"""Known pages watched for one value; nothing is published without the source's approval."""

INVENTORY = Policy(
    name="inventory",
    schedule="tier",
    cycle=timedelta(hours=12),
    tiers={"hot": timedelta(hours=6), "standard": timedelta(hours=12), "cool": DAY},
    fades_after=timedelta(hours=60),
    fading=Fading(),
    max_pages=50,
    breaker=BreakerPolicy(threshold=3, longest_cooldown=DAY),
)
"""Whole stocks that come and go: what is not seen again fades."""

LIVE = Policy(
    name="live",
    schedule="every 5s",
    cycle=timedelta(seconds=5),
    retry=RetryPolicy(3, timedelta(seconds=2), timedelta(seconds=4), Jitter.ADDED),
    breaker=BreakerPolicy(threshold=5, cooldown=timedelta(seconds=60), successes_to_close=5),
    timeout=timedelta(seconds=15),
    snapshot_ttl=timedelta(seconds=15),
    job_limit=timedelta(minutes=5),
    always_admitted=True,
)
"""A score that moves by the second."""

PRESETS = {policy.name: policy for policy in (AGENDA, MONITOR, INVENTORY, LIVE)}
