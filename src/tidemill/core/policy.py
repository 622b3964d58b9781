"""Policies: a vertical's schedule, retries, limits and freshness, as validated presets."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from tidemill.core.breaker import BreakerPolicy
from tidemill.core.failure import Failure
from tidemill.core.freshness import ConfidenceDecay, decay_problems
from tidemill.core.pacing import Pace
from tidemill.core.retry import BROWSER_RETRY, DATABASE_RETRY, DEFAULT_RETRY, Jitter, RetryPolicy

DAY = timedelta(days=1)

_MINUTE = timedelta(minutes=1)
_SERVER = RetryPolicy(4, _MINUTE, 4 * _MINUTE, Jitter.NONE)
_NETWORK = RetryPolicy(4, _MINUTE / 2, 2 * _MINUTE, Jitter.NONE)
LANE_RETRIES: Mapping[str, Mapping[Failure, RetryPolicy]] = {
    "apify": {
        Failure.TIMED_OUT: RetryPolicy(3, _MINUTE, _MINUTE, Jitter.NONE),
        Failure.RATE_LIMITED: RetryPolicy(4, 5 * _MINUTE, 5 * _MINUTE, Jitter.NONE),
        Failure.SERVER_ERROR: _SERVER,
        Failure.CONNECTION_LOST: _NETWORK,
        Failure.TRUNCATED_BODY: _NETWORK,
    },
    "browser": dict.fromkeys(
        (Failure.BROWSER_LOST, Failure.TIMED_OUT, Failure.CONNECTION_LOST, Failure.TRUNCATED_BODY), BROWSER_RETRY
    ),
}
"""Retry policies of the lanes whose work costs more than a plain fetch, by failure.

An actor that ran out of time is tried twice more, after any other failure three times more.
"""


class BadPolicy(ValueError):
    """A policy that contradicts itself; the message names the values that disagree."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How one vertical is scraped and how long its records stay valid.

    `cycle` is the usual time between two scrapes of a target, `tiers` the same by tier. `hidden_after` is the time
    without a sighting after which a record is hidden, `decay` how its confidence falls until then, `snapshot_ttl`
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
    retry: RetryPolicy = DEFAULT_RETRY
    retries: Mapping[Failure, RetryPolicy] = msgspec.field(default_factory=dict)
    breaker: BreakerPolicy = BreakerPolicy()
    pace: Pace = Pace()
    timeout: timedelta = timedelta(seconds=30)
    max_page_bytes: int = 10_000_000
    job_limit: timedelta = timedelta(minutes=30)
    stale_after: timedelta = DAY
    hidden_after: timedelta | None = None
    decay: ConfidenceDecay | None = None
    snapshot_ttl: timedelta | None = None
    missing_runs: int = 2
    max_pages: int = 1
    needs_approval: bool = False
    cron_zone: str = ""
    always_admitted: bool = False

    def retry_for(self, failure: Failure, lane: str = "http") -> RetryPolicy:
        """Return the retry policy for a failure; some lanes have their own."""
        if failure is Failure.WRITE_FAILED:
            return DATABASE_RETRY
        of_lane = LANE_RETRIES.get(lane, {}).get(failure)
        return of_lane or self.retries.get(failure, self.retry)


def contradictions(policy: Policy) -> list[str]:
    """Return every contradiction in the policy, in words for the person who set it."""
    longest_cycle = max([policy.cycle, *policy.tiers.values()])
    found = []
    if policy.hidden_after is not None and policy.hidden_after < 2 * longest_cycle:
        found.append(
            f"records fade after {policy.hidden_after} without a sighting, but a target is only scraped every "
            f"{longest_cycle}: one missed scrape would hide everything; let them last for two cycles or more"
        )
    if policy.decay is not None:
        found += decay_problems(policy.decay, policy.tiers)
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


def validated(policy: Policy) -> Policy:
    """Return the policy; raise `BadPolicy` with every contradiction if there are any."""
    if found := contradictions(policy):
        msg = f"the policy {policy.name!r} contradicts itself: " + "; ".join(found)
        raise BadPolicy(msg)
    return policy


def freshness_debt(targets: int, pace: Pace, cycle: timedelta) -> timedelta:
    """Return how much longer than a cycle a host's pace needs for its targets; over zero, some are always stale."""
    return max(timedelta(0), pace.interval * targets - cycle)


AGENDA = Policy(name="agenda", schedule="0 6 * * *", cycle=DAY, hidden_after=7 * DAY, max_pages=20)
"""Pages that change daily, such as event agendas."""

MONITOR = Policy(name="monitor", schedule="0 */4 * * *", cycle=timedelta(hours=4), needs_approval=True, cron_zone="UTC")
"""Known pages watched for one value; sources need approval before anything is published."""

INVENTORY = Policy(
    name="inventory",
    schedule="tier",
    cycle=timedelta(hours=12),
    tiers={"hot": timedelta(hours=6), "standard": timedelta(hours=12), "cool": DAY},
    hidden_after=timedelta(hours=60),
    decay=ConfidenceDecay(),
    max_pages=50,
)
"""Whole inventories: records that are not seen again lose confidence."""

LIVE = Policy(
    name="live",
    schedule="every 2.5s",
    cycle=timedelta(seconds=2.5),
    retry=RetryPolicy(3, timedelta(seconds=2), timedelta(seconds=4), Jitter.ADDED),
    breaker=BreakerPolicy(
        threshold=5,
        cooldown=timedelta(seconds=60),
        longest_cooldown=timedelta(minutes=2),
        successes_to_close=5,
        probe_timeout=timedelta(seconds=60),
    ),
    timeout=timedelta(seconds=15),
    snapshot_ttl=timedelta(seconds=15),
    job_limit=timedelta(minutes=75),
    always_admitted=True,
)
"""Values that change within seconds, such as live scores.

A job is an hour's watch, and goes on a little while its successor is not there yet.
"""

PRESETS = {policy.name: policy for policy in (AGENDA, MONITOR, INVENTORY, LIVE)}
