"""Prometheus metrics: happenings are counted as they happen, the current state is read when it is asked for.

Names are those of the designs we follow (`scrape_*`, `scraper_*`). No label holds a URL or any other text from a
page, and each has a bounded number of values.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import InfoMetricFamily
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tidemill.core.outcome import Stage
from tidemill.core.run import RunSummary
from tidemill.pipeline.happenings import (
    AdapterDisabled,
    BreakerMoved,
    ChangeLogged,
    ClockJumped,
    DiscoverySpilled,
    DriftNoticed,
    EnqueueRejected,
    Happening,
    JobDead,
    JobRefused,
    JobsRescued,
    JobsStale,
    JobWaits,
    LeaseLost,
    LifeMoved,
    Overdue,
    PageGot,
    PagePolled,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecordsJudged,
    RecordsKept,
    RunClosed,
    RunExtended,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
    WatchLost,
)
from tidemill.telemetry.counters import HistogramCounter, LabelledCounter
from tidemill.telemetry.gauges import Gauges, Snapshot

MILLISECONDS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
SECONDS = (0.1, 0.3, 1, 3, 10, 30)

_SOURCE = ("source_id",)


class Metrics:
    """Every metric, in a registry of its own; `count` is the listener."""

    def __init__(self, version: str = "", *, process: bool = True) -> None:
        """`process` adds the memory, processor time and open files of this process."""
        self.registry = CollectorRegistry()
        self._gauges = Gauges()
        self._make_page_counters()
        self._make_work_counters()
        for collector in (*self._counters(), self._gauges, _Build(version)):
            self.registry.register(collector)
        if process:
            ProcessCollector(registry=self.registry)
        self._handlers = self._make_handlers()

    def _make_page_counters(self) -> None:
        counter = LabelledCounter
        self.attempts = counter(
            "scrape_urls_attempted", "Tries to get a page, by how they ended.", ("source_id", "status")
        )
        self.succeeded = counter("scrape_urls_succeeded", "Jobs that came to their end.", _SOURCE)
        self.failed = counter("scrape_urls_failed", "Jobs that became dead letters.", ("source_id", "reason"))
        self.person_needed = counter(
            "scraper_person_needed", "Times that trying again would not help.", ("source_id", "reason")
        )  # fmt: skip
        self.refused = counter("scrape_urls_refused", "Jobs that we chose not to ask for.", ("source_id", "reason"))
        self.retries = counter("scrape_retries", "Failed attempts that will be tried again.", ("stage", "reason"))
        self.snoozes = counter("scrape_snoozes", "Jobs put off by politeness or a breaker.", ("stage",))
        self.extracted = counter("scrape_offers_extracted", "Raw records read from pages.", _SOURCE)
        self.valid = counter("scrape_offers_valid", "Records that were accepted.", _SOURCE)
        self.dropped = counter("scrape_offers_dropped", "Records that were dropped.", _SOURCE)
        self.quarantined = counter("scrape_offers_quarantined", "Records set aside for a person.", _SOURCE)
        self.records = counter("scrape_records", "What became of accepted records.", ("vertical", "change"))
        self.scrapes = counter("scraper_scrapes", "Tries to get a page, by host.", ("domain", "status"))
        self.answers = counter("scrape_responses", "Answers of sites, by class of status code.", ("code",))
        self.bytes = counter("scrape_response_bytes", "Bytes of page content received.")
        self.duration_ms = HistogramCounter("scrape_fetch_duration_ms", "How long pages took.", MILLISECONDS)
        self.duration_seconds = HistogramCounter(
            "scraper_scrape_duration_seconds", "How long pages took, by host.", SECONDS, "domain"
        )

    def _make_work_counters(self) -> None:
        counter = LabelledCounter
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
            "scraper_source_disabled", "Sources that drift detection switched off.", ("source_id", "reason")
        )
        self.drift = counter("scraper_drift_noticed", "Adapters found off, by rule.", ("adapter_id", "rule"))
        self.sold_out = counter("scrape_oos_no_price", "Products sold out and shown without a price.", _SOURCE)
        self.places = counter("scraper_places_searched", "Municipalities that discovery has searched.")
        self.candidates = counter("scraper_candidates_found", "Sites that discovery put before a person.")
        self.spilled = counter("scraper_discovery_spilled", "Times that discovery had to write to a file.")
        self.changes = counter("scraper_changes", "Changes of watched things in the log.", ("vertical", "kind"))
        self.change_seconds = HistogramCounter(
            "scraper_change_seconds", "Seconds from asking for a page to its change in the log.", SECONDS
        )
        self.life_moves = counter("scraper_life_moves", "Moves of watched things' lives.", ("vertical", "state"))
        self.watches_lost = counter("scraper_watches_lost", "Watches that another process took, or that were given up.")
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
            PersonNeeded: lambda each: self.person_needed.add((str(each.source_id), str(each.failure))),
            RecordsJudged: self._records_judged,
            RecordsKept: self._records_kept,
            RunExtended: lambda each: self.extended.add((each.trigger,)),
            RunOpened: lambda each: self.opened.add((each.trigger,)),
            RunClosed: lambda each: self._run_closed(each.summary),
            EnqueueRejected: lambda each: self.rejected.add((each.reason,), each.rejected),
            BreakerMoved: lambda each: self.breaker_moves.add((each.after,)),
            TickRan: lambda each: self.ticks.add((each.name, each.status)),
            JobsRescued: lambda each: self.rescued.add((), each.jobs),
            JobsStale: lambda each: self.failed.add((str(each.source_id), "stale"), each.jobs),
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
            PagePolled: self._page_polled,
            ChangeLogged: self._change_logged,
            LifeMoved: lambda each: self.life_moves.add((each.vertical, each.after)),
            WatchLost: partial(_increment, self.watches_lost),
        }

    def _page_polled(self, polled: PagePolled) -> None:
        status = "success" if polled.failure is None else "failure"
        self.scrapes.add((polled.host, status))
        self.duration_seconds.add(polled.milliseconds / 1_000, polled.host)

    def _change_logged(self, logged: ChangeLogged) -> None:
        self.changes.add((logged.vertical, logged.change))
        self.change_seconds.add(logged.seconds)

    def _stage_done(self, happening: StageDone) -> None:
        self.stages.add((str(happening.stage),))
        if happening.ends:
            self.succeeded.add((str(happening.source_id),))

    def _page_got(self, page: PageGot) -> None:
        self.attempts.add((str(page.source_id), "unchanged" if page.unchanged else "ok"))
        self.scrapes.add((page.host, "success"))
        self.answers.add((_CLASSES.get(page.status_code // 100, "other"),))
        self.bytes.add((), page.size)
        self.duration_ms.add(page.milliseconds)
        self.duration_seconds.add(page.milliseconds / 1000, page.host)

    def _job_waits(self, wait: JobWaits) -> None:
        if wait.failure is None:
            self.snoozes.add((str(wait.stage),))
            return
        self.retries.add((str(wait.stage), str(wait.failure)))
        if wait.stage is Stage.FETCH:
            self._fetch_failed(wait)

    def _job_refused(self, refusal: JobRefused) -> None:
        source = str(refusal.source_id)
        self.attempts.add((source, "refused"))
        self.refused.add((source, str(refusal.failure)))

    def _job_dead(self, death: JobDead) -> None:
        self.failed.add((str(death.source_id), str(death.failure)))
        if death.stage is Stage.FETCH:
            self._fetch_failed(death)

    def _fetch_failed(self, what: JobWaits | JobDead) -> None:
        self.attempts.add((str(what.source_id), "failed"))
        self.scrapes.add((what.host, "failure"))

    def _disabled(self, disabled: AdapterDisabled) -> None:
        if disabled.scope == "source":
            self.sources_disabled.add((str(disabled.source_id), disabled.rule))
        else:
            self.disabled.add((disabled.adapter_id, disabled.rule))

    def _records_judged(self, judged: RecordsJudged) -> None:
        source = (str(judged.source_id),)
        self.extracted.add(source, judged.accepted + judged.dropped + judged.quarantined)
        self.dropped.add(source, judged.dropped)
        self.quarantined.add(source, judged.quarantined)

    def _records_kept(self, kept: RecordsKept) -> None:
        source = (str(kept.source_id),)
        self.valid.add(source, kept.inserted + kept.updated + kept.unchanged + kept.repeated)
        self.dropped.add(source, kept.dropped)
        self.quarantined.add(source, kept.quarantined)
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
        self.sold_out.add((str(summary.source_id),), summary.counts.oos_no_price_count)


_CLASSES = {1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}


def _increment(counter: LabelledCounter, _happening: Happening) -> None:
    counter.add()


class _Build(Collector):
    """The metric of the running version."""

    def __init__(self, version: str) -> None:
        self._version = version

    def collect(self) -> Iterator[InfoMetricFamily]:
        yield InfoMetricFamily("scraper_build", "The version that runs.", {"version": self._version})
