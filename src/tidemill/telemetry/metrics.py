"""Prometheus metrics: happenings are counted as they happen, the current state is read when it is asked for.

Names are those of the designs we follow (`scrape_*`, `scraper_*`). No label holds a URL or any other text from a
page, and each has a bounded number of values.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import InfoMetricFamily
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tidemill.core.outcome import Stage
from tidemill.core.run import RunSummary
from tidemill.pipeline.happenings import (
    AdapterDisabled,
    BreakerMoved,
    BrowserRecycled,
    ChangeLogged,
    ChangesCaughtUp,
    ClockJumped,
    ClockSkewed,
    ConflictFound,
    DiscoverySpilled,
    DiskLow,
    DriftNoticed,
    EnqueueRejected,
    ExportDone,
    GradeMoved,
    Happening,
    IncidentEnded,
    IncidentOpened,
    JobDead,
    JobRefused,
    JobsRescued,
    JobsStale,
    JobWaits,
    LeaseLost,
    LifeMoved,
    NoticeSent,
    Overdue,
    PageGot,
    PagePolled,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecordsJudged,
    RecordsKept,
    RecoveryBegun,
    RecoveryExhausted,
    RecoveryJudged,
    RoundEnded,
    RunClosed,
    RunExtended,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
    TokenRefused,
    WatchLost,
    WatchPaused,
)
from tidemill.telemetry.counters import OTHER, HistogramCounter, LabelledCounter
from tidemill.telemetry.gauges import Gauges, Snapshot

MILLISECONDS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
EXTRACT_MILLISECONDS = (1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000)
SECONDS = (0.1, 0.3, 1, 3, 10, 30)

_SOURCE = ("adapter_id", "source_id")
_REASON = (*_SOURCE, "reason")
DEFAULT_SOURCES = 500
"""Sources that have series of their own; those of the others are added up as `other`."""
REPEATED_IN_RUN, HELD_BACK = "repeated_in_run", "held_back"
"""Why a repository turns records away that the rules accepted."""


class Metrics:
    """Every metric, in a registry of its own; `count` is the listener."""

    def __init__(
        self,
        version: str = "",
        *,
        process: bool = True,
        most_sources: int = DEFAULT_SOURCES,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        """`process` adds the memory, processor time and open files of this process; `identity` says which it is.

        Only `most_sources` sources have series of their own.
        """
        self.registry = CollectorRegistry()
        self._gauges = Gauges(most_sources)
        self._most_series = max(1, most_sources)
        self._make_page_counters()
        self._make_work_counters()
        for collector in (*self._counters(), self._gauges, _Build(version), _Process(identity or {})):
            self.registry.register(collector)
        if process:
            ProcessCollector(registry=self.registry)
        self._handlers = self._make_handlers()

    def _make_page_counters(self) -> None:
        counter = partial(LabelledCounter, max_series=self._most_series)
        self.attempts = counter(
            "scrape_urls_attempted", "Tries to get a page, by how they ended.", (*_SOURCE, "status")
        )
        self.succeeded = counter("scrape_urls_succeeded", "Jobs that came to their end.", _SOURCE)
        self.failed = counter("scrape_urls_failed", "Jobs that became dead letters.", _REASON)
        self.person_needed = counter(
            "scraper_person_needed", "Times that trying again would not help.", _REASON
        )  # fmt: skip
        self.refused = counter("scrape_urls_refused", "Jobs that we chose not to ask for.", _REASON)
        self.retries = counter("scrape_retries", "Failed attempts that will be tried again.", ("stage", "reason"))
        self.snoozes = counter("scrape_snoozes", "Jobs put off by politeness or a breaker.", ("stage",))
        self.extracted = counter("scrape_offers_extracted", "Raw records read from pages.", _SOURCE)
        self.valid = counter("scrape_offers_valid", "Records that were accepted.", _SOURCE)
        self.dropped = counter("scrape_offers_dropped", "Records that were dropped.", _REASON)
        self.quarantined = counter("scrape_offers_quarantined", "Records set aside for a person.", _REASON)
        self.records = counter("scrape_records", "What became of accepted records.", ("vertical", "change"))
        self.scrapes = counter("scraper_scrapes", "Tries to get a page, by host.", ("domain", "status"))
        self.navigation_failures = counter(
            "scraper_navigation_failures", "Pages that could not be got, by host.", ("domain",)
        )
        self.answers = counter("scrape_responses", "Answers of sites, by class of status code.", ("code",))
        self.bytes = counter("scrape_response_bytes", "Bytes of page content received.")
        self.fetch_ms = HistogramCounter(
            "scrape_fetch_duration_ms", "How long getting pages took.", MILLISECONDS, "adapter_id"
        )
        self.extract_ms = HistogramCounter(
            "scrape_extract_duration_ms", "How long reading pages took.", EXTRACT_MILLISECONDS, "adapter_id"
        )
        self.wait_ms = HistogramCounter(
            "scrape_rate_limit_wait_ms", "How long requests waited for their host's pace.", MILLISECONDS, "domain"
        )
        self.duration_seconds = HistogramCounter(
            "scraper_scrape_duration_seconds", "How long pages took, by host.", SECONDS, "domain"
        )

    def _make_work_counters(self) -> None:
        counter = partial(LabelledCounter, max_series=self._most_series)
        self.stages = counter("scraper_stages_done", "Stages finished and safe.", ("stage",))
        self.opened = counter("scraper_runs_opened", "Runs started.", ("trigger",))
        self.extended = counter("scraper_runs_extended", "Times that jobs were added to a run.", ("trigger",))
        self.closed = counter("scraper_runs_closed", "Runs ended.", ("vertical", "status"))
        self.incomplete = counter("scraper_runs_incomplete", "Runs that were not certified complete.", ("vertical",))
        self.removed = counter("scraper_records_removed", "Records gone by a complete run's word.", ("vertical",))
        self.rejected = counter("scrape_queue_rejected", "Targets turned away by a full queue.", ("reason",))
        self.breaker_moves = counter("scraper_breaker_moves", "Circuit breakers that changed state.", ("state",))
        self.ticks = counter("scraper_ticks", "Periodic work done.", ("tick", "status"))
        self.rescued = counter("scraper_jobs_rescued", "Jobs freed from dead or stalled workers.")
        self.leases_lost = counter("scraper_leases_lost", "Results thrown away because the lease had passed.")
        self.store_trouble = counter("scraper_store_trouble", "Times that the database refused.")
        self.clock_jumps = counter("scraper_clock_jumps", "Times that somebody set the machine's clock.")
        self.crashes = counter(
            "scraper_part_crashes", "Times that a part of the engine met a bug and was started again."
        )
        self.service_moves = counter(
            "scraper_service_moves", "Outside services that became degraded or work again.", ("service", "state")
        )
        self.disabled = counter(
            "scrape_adapter_disabled", "Adapters that drift detection switched off.", ("adapter_id", "reason")
        )
        self.sources_disabled = counter(
            "scraper_source_disabled", "Sources that drift detection switched off.", _REASON
        )
        self.drift = counter("scraper_drift_noticed", "Adapters found off, by rule.", ("adapter_id", "rule"))
        self.sold_out = counter("scrape_oos_no_price", "Products sold out and shown without a price.", _SOURCE)
        self.places = counter("scraper_places_searched", "Municipalities that discovery has searched.")
        self.candidates = counter("scraper_candidates_found", "Sites that discovery put before a person.")
        self.spilled = counter("scraper_discovery_spilled", "Times that discovery had to write to a file.")
        self.grade_moves = counter("scraper_grade_moves", "Moves of the grade of live polling.", ("grade",))
        self.recoveries = counter("scraper_recoveries", "Recoveries of live polling.", ("action", "outcome"))
        self.exhausted = counter("scraper_recoveries_exhausted", "Times that the watchdog could do no more.")
        self.changes = counter("scraper_changes", "Changes of watched things in the log.", ("vertical", "kind"))
        self.change_seconds = HistogramCounter(
            "scraper_change_seconds", "Seconds from asking for a page to its change in the log.", SECONDS
        )
        self.life_moves = counter("scraper_life_moves", "Moves of watched things' lives.", ("vertical", "state"))
        self.watches_lost = counter("scraper_watches_lost", "Watches that another process took, or that were given up.")
        self.watches_paused = counter("scraper_watches_paused", "Watched things left alone for a while.", ("vertical",))
        self.conflicts = counter("scraper_conflicts", "Things that sources disagreed about.", ("vertical",))
        self.tokens_refused = counter("scraper_tokens_refused", "Callers refused for what they showed.", ("reason",))
        self.exports = counter("scraper_exports", "Exports of data.", ("dataset", "format"))
        self.disk_low = counter("scraper_disk_low", "Times that a disk began to run out of space.")
        self.clocks_skewed = counter("scraper_clocks_skewed", "Times that a clock was found to be off.")
        self.incidents_opened = counter("scraper_incidents_opened", "Incidents opened.", ("alert", "severity"))
        self.incidents_ended = counter("scraper_incidents_ended", "Incidents that are over.", ("alert", "severity"))
        self.rounds = counter("scraper_rounds", "Rounds of runs that were summed up.", ("vertical",))
        self.notices = counter("scraper_notices", "Messages to people, by how that went.", ("channel", "result"))
        self.overdue = counter("scraper_overdue", "Times that the schedule was found not kept.")

    def _counters(self) -> Iterator[Collector]:
        return (each for each in vars(self).values() if isinstance(each, LabelledCounter | HistogramCounter))

    def count(self, happening: Happening) -> None:
        """Count a happening, in about a microsecond."""
        self._handlers[type(happening)](happening)

    def render(self, snapshot: Snapshot | None) -> bytes:
        """Return all metrics as text for Prometheus; without a snapshot the gauges are left out."""
        self._gauges.show(snapshot)
        return generate_latest(self.registry)

    def _make_handlers(self) -> Mapping[type, Callable[[Any], None]]:
        return {
            StageDone: self._stage_done,
            PageGot: self._page_got,
            JobWaits: self._job_waits,
            JobRefused: self._job_refused,
            JobDead: self._job_dead,
            PersonNeeded: lambda each: self.person_needed.add((*_who(each), str(each.failure))),
            RecordsJudged: self._records_judged,
            RecordsKept: self._records_kept,
            RunExtended: lambda each: self.extended.add((each.trigger,)),
            RunOpened: lambda each: self.opened.add((each.trigger,)),
            RunClosed: lambda each: self._run_closed(each.summary),
            EnqueueRejected: lambda each: self.rejected.add((each.reason,), each.rejected),
            BreakerMoved: lambda each: self.breaker_moves.add((each.after,)),
            TickRan: lambda each: self.ticks.add((each.name, each.status)),
            JobsRescued: lambda each: self.rescued.add((), each.jobs),
            JobsStale: lambda each: self.failed.add((*_who(each), "stale"), each.jobs),
            LeaseLost: partial(_increment, self.leases_lost),
            StoreTrouble: partial(_increment, self.store_trouble),
            ClockJumped: partial(_increment, self.clock_jumps),
            PartCrashed: partial(_increment, self.crashes),
            Overdue: partial(_increment, self.overdue),
            DriftNoticed: lambda each: self.drift.add((each.adapter_id, each.rule), 0 if each.is_over else 1),
            AdapterDisabled: self._disabled,
            ServiceDegraded: lambda each: self.service_moves.add((each.service.value, "degraded")),
            ServiceRestored: lambda each: self.service_moves.add((each.service.value, "works")),
            PlaceSearched: self._place_searched,
            DiscoverySpilled: partial(_increment, self.spilled),
            GradeMoved: lambda each: self.grade_moves.add((each.after.value,)),
            RecoveryBegun: lambda each: self.recoveries.add((each.action.value, "begun")),
            RecoveryJudged: lambda each: self.recoveries.add((each.action.value, each.outcome.value)),
            RecoveryExhausted: partial(_increment, self.exhausted),
            PagePolled: self._page_polled,
            ChangeLogged: self._change_logged,
            LifeMoved: lambda each: self.life_moves.add((each.vertical, each.after)),
            WatchLost: partial(_increment, self.watches_lost),
            BrowserRecycled: lambda _: None,  # `scraper_recycles_total` comes from the pools, of all processes
            ChangesCaughtUp: lambda _: None,  # what is caught up is counted change by change
            WatchPaused: lambda each: self.watches_paused.add((each.vertical,)),
            ConflictFound: lambda each: self.conflicts.add((each.vertical,)),
            TokenRefused: lambda each: self.tokens_refused.add((each.reason,)),
            ExportDone: lambda each: self.exports.add((each.dataset, each.format)),
            DiskLow: partial(_increment, self.disk_low),
            ClockSkewed: partial(_increment, self.clocks_skewed),
            IncidentOpened: lambda each: self.incidents_opened.add((each.alert, each.severity)),
            IncidentEnded: lambda each: self.incidents_ended.add((each.alert, each.severity)),
            RoundEnded: lambda each: self.rounds.add((each.vertical,)),
            NoticeSent: lambda each: self.notices.add((each.channel, "failed" if each.error else "sent")),
        }

    def _page_polled(self, polled: PagePolled) -> None:
        status = "success" if polled.failure is None else "failure"
        self.scrapes.add((polled.host, status))
        self.fetch_ms.add(polled.milliseconds, polled.adapter_id)
        if polled.failure is None:
            self.attempts.add((*_who(polled), "ok"))
            self.succeeded.add(_who(polled))
        else:
            self.attempts.add((*_who(polled), "failed"))
            self.failed.add((*_who(polled), str(polled.failure)))
        self.duration_seconds.add(polled.milliseconds / 1_000, polled.host)

    def _change_logged(self, logged: ChangeLogged) -> None:
        self.changes.add((logged.vertical, logged.change))
        self.change_seconds.add(logged.seconds)

    def _stage_done(self, happening: StageDone) -> None:
        self.stages.add((str(happening.stage),))
        if happening.ends:
            self.succeeded.add(_who(happening))
        if happening.milliseconds is not None:
            self.extract_ms.add(happening.milliseconds, happening.adapter_id)

    def _page_got(self, page: PageGot) -> None:
        self.attempts.add((*_who(page), "unchanged" if page.unchanged else "ok"))
        self.scrapes.add((page.host, "success"))
        self.answers.add((_CLASSES.get(page.status_code // 100, "other"),))
        self.bytes.add((), page.size)
        self.fetch_ms.add(page.milliseconds, page.adapter_id)
        self.wait_ms.add(page.waited_ms, page.host)
        self.duration_seconds.add(page.milliseconds / 1000, page.host)

    def _job_waits(self, wait: JobWaits) -> None:
        if wait.failure is None:
            self.snoozes.add((str(wait.stage),))
            return
        self.retries.add((str(wait.stage), str(wait.failure)))
        if wait.stage is Stage.FETCH:
            self._fetch_failed(wait)

    def _job_refused(self, refusal: JobRefused) -> None:
        who = _who(refusal)
        self.attempts.add((*who, "refused"))
        self.refused.add((*who, str(refusal.failure)))

    def _job_dead(self, death: JobDead) -> None:
        self.failed.add((*_who(death), str(death.failure)))
        if death.stage is Stage.FETCH:
            self._fetch_failed(death)

    def _fetch_failed(self, what: JobWaits | JobDead) -> None:
        self.attempts.add((*_who(what), "failed"))
        self.scrapes.add((what.host, "failure"))
        self.navigation_failed(what.host)

    def navigation_failed(self, host: str) -> None:
        """Count a page that could not be got."""
        self.navigation_failures.add((host,))

    def _disabled(self, disabled: AdapterDisabled) -> None:
        if disabled.scope == "source":
            self.sources_disabled.add((*_who(disabled), disabled.rule))
        else:
            self.disabled.add((disabled.adapter_id, disabled.rule))

    def _records_judged(self, judged: RecordsJudged) -> None:
        who = _who(judged)
        self.extracted.add(who, judged.accepted + judged.dropped + judged.quarantined)
        for verdict, reason, count in judged.reasons:
            counter = self.dropped if verdict == "dropped" else self.quarantined
            counter.add((*who, reason_label(reason)), count)

    def _records_kept(self, kept: RecordsKept) -> None:
        who = _who(kept)
        self.valid.add(who, kept.inserted + kept.updated + kept.unchanged + kept.repeated)
        self.dropped.add((*who, REPEATED_IN_RUN), kept.dropped)
        self.quarantined.add((*who, HELD_BACK), kept.quarantined)
        self.records.add((kept.vertical, "inserted"), kept.inserted)
        self.records.add((kept.vertical, "updated"), kept.updated)
        self.records.add((kept.vertical, "unchanged"), kept.unchanged)
        self.records.add((kept.vertical, "repeated"), kept.repeated)

    def _place_searched(self, happening: PlaceSearched) -> None:
        self.places.add()
        self.candidates.add((), happening.found)

    def _run_closed(self, summary: RunSummary) -> None:
        self.closed.add((summary.vertical, summary.status.value))
        self.incomplete.add((summary.vertical,), 0 if summary.complete else 1)
        self.removed.add((summary.vertical,), summary.removed)
        self.sold_out.add(_who(summary), summary.counts.oos_no_price_count)


class _Whose(Protocol):
    @property
    def adapter_id(self) -> str: ...
    @property
    def source_id(self) -> int: ...


def _who(happening: _Whose) -> tuple[str, str]:
    """Return the labels of whatever belongs to a source."""
    return happening.adapter_id, str(happening.source_id)


_SHORT_REASON = re.compile(r"[\w.-]{1,60}", re.ASCII)


def reason_label(reason: str) -> str:
    """Return a rule's reason as a label; one that is not a short word is not shown, for it may hold scraped text."""
    return reason if _SHORT_REASON.fullmatch(reason) else OTHER


_CLASSES = {1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}


def _increment(counter: LabelledCounter, _happening: Happening) -> None:
    counter.add()


class _Build(Collector):
    """The metric of the running version."""

    def __init__(self, version: str) -> None:
        self._version = version

    def collect(self) -> Iterator[InfoMetricFamily]:
        yield InfoMetricFamily("scraper_build", "The version that runs.", {"version": self._version})


class _Process(Collector):
    """Which process answers: its name as a worker, its roles and its lanes."""

    def __init__(self, identity: Mapping[str, str]) -> None:
        self._identity = {name: identity.get(name, "") for name in ("worker", "roles", "lanes")}

    def collect(self) -> Iterator[InfoMetricFamily]:
        yield InfoMetricFamily("tidemill_process", "1, with what the answering process is.", self._identity)
