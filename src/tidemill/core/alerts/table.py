"""The table of alerts: what each means, how urgent it is, how long it must hold, and what a person does about it."""

from datetime import timedelta
from enum import StrEnum

import msgspec

AT_ONCE = timedelta(0)
RUNBOOK_FOLDER = "docs/runbooks"


class Severity(StrEnum):
    """How urgent an alert is: the first wakes somebody, the second is for today, the third for this week."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"

    def is_above(self, other: "Severity") -> bool:
        """Return whether this one is more urgent than another."""
        return self.value < other.value


class CauseKind(StrEnum):
    """What incidents are grouped by: whatever one repair would mend."""

    HOST = "host"
    ADAPTER = "adapter"
    SCOPE = "scope"
    VERTICAL = "vertical"
    SERVICE = "service"
    DATABASE = "database"
    OURSELVES = "ourselves"


class AlertName(StrEnum):
    """Every alert there is; the value is how it is stored, and the name of its Prometheus rule."""

    ADAPTER_DISABLED = "adapter_disabled"
    FAILURE_RATE = "failure_rate"
    QUEUE_REJECTIONS = "queue_rejections"
    TARGETS_STALE = "targets_stale"
    BREAKER_OPEN = "breaker_open"
    BREAKERS_OPEN = "breakers_open"
    DEAD_LETTERS = "dead_letters"
    NO_RECORDS = "no_records"
    LLM_BUDGET = "llm_budget"
    SCRAPINGBEE_BUDGET = "scrapingbee_budget"
    DNS_OR_TLS = "dns_or_tls"
    DISCOVERY_SPILLED = "discovery_spilled"
    DISK_FULL = "disk_full"
    DISK_LOW = "disk_low"
    ZERO_PRICE = "zero_price"
    SCOPE_OVERDUE = "scope_overdue"
    TICK_SILENT = "tick_silent"
    LONG_BACKOFF = "long_backoff"
    CLOCK_SKEW = "clock_skew"
    FIELD_SHARE = "field_share"
    GRADE_FAILING = "grade_failing"
    GRADE_DEGRADED = "grade_degraded"
    RECOVERY_LOOP = "recovery_loop"
    SELECTOR_FAILING = "selector_failing"
    WORSE_THAN_USUAL = "worse_than_usual"
    SHORT_LIST = "short_list"
    OBJECTIVE_FAST_BURN = "objective_fast_burn"
    OBJECTIVE_BURN = "objective_burn"
    OBJECTIVE_SLOW_BURN = "objective_slow_burn"
    CHECK_FAILED = "check_failed"


class AlertRule(msgspec.Struct, frozen=True, kw_only=True):
    """One alert.

    `condition` says in words when it holds, and `limit` is its number where it has one. It must hold for `delay`
    before anybody is told. `meaning` and `action` are the first lines of its runbook.
    """

    name: AlertName
    severity: Severity
    cause: CauseKind
    condition: str
    meaning: str
    action: str
    limit: float | None = None
    delay: timedelta = AT_ONCE

    @property
    def runbook(self) -> str:
        """The slug of its runbook: a file of `docs/runbooks` without its ending."""
        return self.name.value.replace("_", "-")

    @property
    def runbook_path(self) -> str:
        """The runbook's place in this project."""
        return f"{RUNBOOK_FOLDER}/{self.runbook}.md"


def _rule(
    name: AlertName, severity: Severity, cause: CauseKind, condition: str, meaning: str, action: str,
    *, limit: float | None = None, delay: timedelta = AT_ONCE,
) -> AlertRule:  # fmt: skip
    return AlertRule(
        name=name, severity=severity, cause=cause, condition=condition, meaning=meaning, action=action,
        limit=limit, delay=delay,
    )  # fmt: skip


def _minutes(count: int) -> timedelta:
    return timedelta(minutes=count)


_P1, _P2, _P3 = Severity

RULES: tuple[AlertRule, ...] = (
    _rule(AlertName.ADAPTER_DISABLED, _P1, CauseKind.ADAPTER,
          "drift detection switched an adapter off, or a source that it no longer fits",
          "Nothing is scraped by this adapter or for this source until a person switches it on.",
          "Read the drift, mend the selectors or the adapter, try it on stored pages, then enable it."),
    _rule(AlertName.FAILURE_RATE, _P2, CauseKind.ADAPTER,
          "more than half of a run's URLs failed or yielded nothing usable (20 URLs or more)",
          "The site changed, blocks us or is broken; a second such run disables the adapter.",
          "Look at the failures of the run and at a page of it by hand.",
          limit=0.5),
    _rule(AlertName.QUEUE_REJECTIONS, _P2, CauseKind.OURSELVES,
          "targets are turned away because the queue is full, for three rounds in a row",
          "More comes due than is fetched, so data ages.",
          "Add a worker, or check fewer targets less often; see which adapter fills the queue.",
          limit=3),
    _rule(AlertName.TARGETS_STALE, _P3, CauseKind.OURSELVES,
          "more than 100 jobs waited for over a day and were given up",
          "Their targets were not checked in time.",
          "Find out what held them back, then requeue them.",
          limit=100),
    _rule(AlertName.BREAKER_OPEN, _P2, CauseKind.HOST,
          "a source's circuit breaker is open",
          "A site kept failing and is left alone for a while; its data ages.",
          "Open the site by hand: if it answers, reset the breaker, else wait for it."),
    _rule(AlertName.BREAKERS_OPEN, _P1, CauseKind.VERTICAL,
          "the breakers of at least half of a vertical's enabled sources (and of two or more) are open",
          "So many sites rarely fail at once: the fault is likely ours (network, address, user agent).",
          "Check our own connection and what the sites answer us before any breaker is reset.",
          limit=0.5),
    _rule(AlertName.DEAD_LETTERS, _P2, CauseKind.OURSELVES,
          "more than 50 dead letters are pending",
          "Jobs fail for good faster than they are looked at.",
          "Group them by failure; retry or discard them in bulk.",
          limit=50),
    _rule(AlertName.NO_RECORDS, _P2, CauseKind.HOST,
          "a source that is scraped brought no record for 24 hours, though it did before",
          "Runs go through and bring nothing: the page changed in a way that looks like an empty list.",
          "Compare the stored page with the site, and why the source yields nothing.",
          limit=24),
    _rule(AlertName.LLM_BUDGET, _P2, CauseKind.SERVICE,
          "the language model's budget or quota is used up",
          "Rules alone decide; records that they are unsure of wait.",
          "Raise the budget, or enrich fewer records at a time."),
    _rule(AlertName.SCRAPINGBEE_BUDGET, _P2, CauseKind.SERVICE,
          "ScrapingBee's budget or quota is used up",
          "Blocked pages get a stored copy or none.",
          "Raise the budget, or let sources of low priority wait."),
    _rule(AlertName.DNS_OR_TLS, _P2, CauseKind.HOST,
          "a host's name or certificate failed",
          "No retry mends this: the site moved, expired or renewed its certificate badly.",
          "Open the address by hand; change the source's address or disable it, then retry the letters."),
    _rule(AlertName.DISCOVERY_SPILLED, _P2, CauseKind.DATABASE,
          "results of discovery lie in a file because the database did not take them",
          "They are safe, and not in use until they are imported.",
          "Import the file that the message names."),
    _rule(AlertName.DISK_FULL, _P1, CauseKind.OURSELVES,
          "a disk that we write to has under 1 % or under 100 MB free",
          "Pages and the database soon cannot be written; nothing new is kept.",
          "Free space now: shorten retention, compact pages, or enlarge the disk.",
          limit=0.01),
    _rule(AlertName.DISK_LOW, _P2, CauseKind.OURSELVES,
          "a disk that we write to has under 10 % free",
          "At the usual pace it fills within days.",
          "Shorten retention or enlarge the disk.",
          limit=0.10, delay=_minutes(5)),
    _rule(AlertName.ZERO_PRICE, _P1, CauseKind.ADAPTER,
          "a record was read with a value that its vertical calls alarming, such as a price of zero",
          "The record is set aside; others of the same adapter may be wrong without showing it.",
          "Look at the quarantined records and their pages; disable the adapter if they are misread."),
    _rule(AlertName.SCOPE_OVERDUE, _P2, CauseKind.SCOPE,
          "a list that is read as a whole, such as a market, was not read in time",
          "What it lists ages, and what has gone from it still stands.",
          "See the list's runs and what holds its targets back."),
    _rule(AlertName.TICK_SILENT, _P1, CauseKind.OURSELVES,
          "periodic work has not gone well for three of its periods",
          "Part of the system stands still, whatever else looks well.",
          "Read the last error of the tick, and whether a process runs that does it.",
          limit=3, delay=_minutes(2)),
    _rule(AlertName.LONG_BACKOFF, _P2, CauseKind.ADAPTER,
          "an adapter's scheduling is paused for more than 30 minutes because its queue is full",
          "Nothing new is scheduled for it meanwhile.",
          "Add a worker, or check its targets less often.",
          limit=30),
    _rule(AlertName.CLOCK_SKEW, _P3, CauseKind.OURSELVES,
          "this machine's clock is more than 0.5 s off the database's or another process's",
          "Leases, schedules and ages are judged by a wrong clock.",
          "Start time synchronisation (NTP) on the machines that differ.",
          limit=0.5, delay=_minutes(2)),
    _rule(AlertName.FIELD_SHARE, _P2, CauseKind.ADAPTER,
          "the share of a source's records that have a field is 5 points or more off its blessed baseline",
          "A field disappeared from the site or its selector no longer finds it.",
          "Compare a page with what is read from it; mend the selector, or bless the new share.",
          limit=0.05),
    _rule(AlertName.GRADE_FAILING, _P1, CauseKind.OURSELVES,
          "live polling is graded failing",
          "Live data is minutes old; the watchdog starts browsers anew by itself.",
          "See which pages are late and what the watchdog did.",
          limit=120),
    _rule(AlertName.GRADE_DEGRADED, _P2, CauseKind.OURSELVES,
          "live polling is graded degraded for five minutes",
          "Live data is about a minute old.",
          "See which pages are late, and whether their host's pace allows for them.",
          limit=60, delay=_minutes(5)),
    _rule(AlertName.RECOVERY_LOOP, _P1, CauseKind.OURSELVES,
          "five recoveries within an hour did not help",
          "The watchdog has done what it may and stops.",
          "Look at the machine and at the sites by hand; nothing more happens by itself.",
          limit=5),
    _rule(AlertName.SELECTOR_FAILING, _P3, CauseKind.ADAPTER,
          "a source's first selector fails on more than a tenth of pages and a fallback reads them, or a page is read"
          " by a weaker strategy or with fewer fields than its last good one",
          "The site is changing. What was stored of its records is not overwritten by poorer readings meanwhile.",
          "Look at the page and at the proposed selector, and apply or refuse it; close the incident if this is how "
          "the site is now.",
          limit=0.10),
    _rule(AlertName.WORSE_THAN_USUAL, _P3, CauseKind.ADAPTER,
          "a run failed 25 points more often than usual, or brought less than half the usual records",
          "The adapter still works, but worse than last week.",
          "Compare the run with the ones before it."),
    _rule(AlertName.SHORT_LIST, _P2, CauseKind.ADAPTER,
          "a list fell far short of what it held before",
          "It was cut off, capped or blocked; nothing was removed because of it.",
          "Open the list by hand and compare its length."),
    _rule(AlertName.OBJECTIVE_FAST_BURN, _P1, CauseKind.VERTICAL,
          "an objective's error budget burns 14.4 times too fast over 1 hour and over 5 minutes",
          "At this pace a month's budget is gone within two days.",
          "See which sources are late and why.",
          limit=14.4),
    _rule(AlertName.OBJECTIVE_BURN, _P2, CauseKind.VERTICAL,
          "an objective's error budget burns 6 times too fast over 6 hours and over 30 minutes",
          "At this pace a month's budget is gone within five days.",
          "See which sources are late and why.",
          limit=6),
    _rule(AlertName.OBJECTIVE_SLOW_BURN, _P3, CauseKind.VERTICAL,
          "an objective's error budget burns faster than it is given, over 3 days",
          "The objective will be missed this month.",
          "Check fewer targets less often, add a worker, or change the objective.",
          limit=1),
    _rule(AlertName.CHECK_FAILED, _P1, CauseKind.OURSELVES,
          "a check that alerts depend on failed itself",
          "Its alerts cannot fire: silence means nothing until it works.",
          "Read its error; it is a bug or a database in trouble."),
)  # fmt: skip

ALERTS: dict[AlertName, AlertRule] = {rule.name: rule for rule in RULES}
"""The rule of each alert; a test demands one for each name."""
