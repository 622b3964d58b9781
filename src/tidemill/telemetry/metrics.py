"""Prometheus metrics: what happened is counted as it happens, how things stand is looked up when it is read.

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
    ClockJumped,
    DiscoverySpilled,
    DriftNoticed,
    EnqueueRejected,
    Happening,
    JobDead,
    JobRefused,
    JobsRescued,
    JobWaits,
    LeaseLost,
    Overdue,
    PageGot,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecordsKept,
    RunClosed,
    RunOpened,
    ServiceDegraded,
    ServiceRestored,
    StageDone,
    StoreTrouble,
    TickRan,
)
from tidemill.telemetry.counters import LabelledCounter, Spread
from tidemill.telemetry.gauges import Gauges, Snapshot

MILLISECONDS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
SECONDS = (0.1, 0.3, 1, 3, 10, 30)

_SOURCE = ("source_id",)


class Metrics:
    """Everything that is counted, in a registry of its own; `count` is the listener."""

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
        self._handlers = self._listen()

    def _make_page_counters(self) -> None:
        tally = LabelledCounter
        self.attempts = tally(
            "scrape_urls_attempted", "Tries to get a page, by how they ended.", ("source_id", "status")
        )
        self.succeeded = tally("scrape_urls_succeeded", "Jobs that came to their end.", _SOURCE)
        self.failed = tally("scrape_urls_failed", "Jobs that became dead letters.", ("source_id", "reason"))
        self.needed = tally(
            "scraper_person_needed", "Times that trying again would not help.", ("source_id", "reason")
        )  # fmt: skip
        self.refused = tally("scrape_urls_refused", "Jobs that we chose not to ask for.", ("source_id", "reason"))
        self.retries = tally("scrape_retries", "Failed attempts that will be tried again.", ("stage", "reason"))
        self.snoozes = tally("scrape_snoozes", "Jobs put off by politeness or a breaker.", ("stage",))
        self.extracted = tally("scrape_offers_extracted", "Raw records read from pages.", _SOURCE)
        self.valid = tally("scrape_offers_valid", "Records that were accepted.", _SOURCE)
        self.dropped = tally("scrape_offers_dropped", "Records that were dropped.", _SOURCE)
        self.quarantined = tally("scrape_offers_quarantined", "Records set aside for a person.", _SOURCE)
        self.records = tally("scrape_records", "What became of accepted records.", ("vertical", "change"))
        self.scrapes = tally("scraper_scrapes", "Tries to get a page, by host.", ("domain", "status"))
        self.answers = tally("scrape_responses", "Answers of sites, by class of status code.", ("code",))
        self.bytes = tally("scrape_response_bytes", "Bytes of page content received.")
        self.took_ms = Spread("scrape_fetch_duration_ms", "How long pages took.", MILLISECONDS)
        self.took = Spread("scraper_scrape_duration_seconds", "How long pages took, by host.", SECONDS, "domain")

    def _make_work_counters(self) -> None:
        tally = LabelledCounter
        self.stages = tally("scraper_stages_done", "Stages finished and safe.", ("stage",))
        self.opened = tally("scraper_runs_opened", "Runs started.", ("trigger",))
        self.closed = tally("scraper_runs_closed", "Runs ended.", ("vertical", "status"))
        self.incomplete = tally("scraper_runs_incomplete", "Runs that were not certified complete.", ("vertical",))
        self.removed = tally("scraper_records_removed", "Records gone by a complete run's word.", ("vertical",))
        self.rejected = tally("scrape_queue_rejected", "Targets turned away by a full queue.", ("reason",))
        self.moves = tally("scraper_breaker_moves", "Circuit breakers that changed state.", ("state",))
        self.ticks = tally("scraper_ticks", "Periodic work done.", ("tick", "status"))
        self.rescued = tally("scraper_jobs_rescued", "Jobs freed from dead or stalled workers.")
        self.lost = tally("scraper_leases_lost", "Results thrown away because the lease had passed.")
        self.trouble = tally("scraper_store_trouble", "Times that the database refused.")
        self.jumps = tally("scraper_clock_jumps", "Times that somebody set the machine's clock.")
        self.crashes = tally("scraper_part_crashes", "Times that a part of the engine met a bug and was started again.")
        self.services = tally(
            "scraper_service_moves", "Outside services that became degraded or work again.", ("service", "state")
        )
        self.disabled = tally(
            "scrape_adapter_disabled", "Adapters that drift detection switched off.", ("adapter_id", "reason")
        )
        self.drift = tally("scraper_drift_noticed", "Adapters found off, by rule.", ("adapter_id", "rule"))
        self.sold_out = tally("scrape_oos_no_price", "Products sold out and shown without a price.", _SOURCE)
        self.places = tally("scraper_places_searched", "Municipalities that discovery has searched.")
        self.candidates = tally("scraper_candidates_found", "Sites that discovery put before a person.")
        self.spilled = tally("scraper_discovery_spilled", "Times that discovery had to write to a file.")
        self.overdue = tally("scraper_overdue", "Times that the schedule was found not kept.")

    def _counters(self) -> Iterator[Collector]:
        return (each for each in vars(self).values() if isinstance(each, LabelledCounter | Spread))

    def count(self, happening: Happening) -> None:
        """The listener: about a microsecond per happening."""
        self._handlers[type(happening)](happening)

    def render(self, snapshot: Snapshot | None) -> bytes:
        """Everything as text for Prometheus; without a snapshot the gauges are left out."""
        self._gauges.show(snapshot)
        return generate_latest(self.registry)

    def _listen(self) -> Mapping[type, Callable[[Any], None]]:
        return {
            StageDone: self._stage_done,
            PageGot: self._page_got,
            JobWaits: self._job_waits,
            JobRefused: self._job_refused,
            JobDead: self._job_dead,
            PersonNeeded: lambda each: self.needed.add((str(each.source_id), str(each.failure))),
            RecordsKept: self._records_kept,
            RunOpened: lambda each: self.opened.add((each.trigger,)),
            RunClosed: lambda each: self._run_closed(each.summary),
            EnqueueRejected: lambda each: self.rejected.add((each.reason,), each.rejected),
            BreakerMoved: lambda each: self.moves.add((each.after,)),
            TickRan: lambda each: self.ticks.add((each.name, each.status)),
            JobsRescued: lambda each: self.rescued.add((), each.jobs),
            LeaseLost: partial(_one_more, self.lost),
            StoreTrouble: partial(_one_more, self.trouble),
            ClockJumped: partial(_one_more, self.jumps),
            PartCrashed: partial(_one_more, self.crashes),
            Overdue: partial(_one_more, self.overdue),
            DriftNoticed: lambda each: self.drift.add((each.adapter_id, each.rule), 0 if each.is_over else 1),
            AdapterDisabled: lambda each: self.disabled.add((each.adapter_id, each.rule)),
            ServiceDegraded: lambda each: self.services.add((each.service.value, "degraded")),
            ServiceRestored: lambda each: self.services.add((each.service.value, "works")),
            PlaceSearched: self._place_searched,
            DiscoverySpilled: partial(_one_more, self.spilled),
        }

    def _stage_done(self, happening: StageDone) -> None:
        self.stages.add((str(happening.stage),))
        if happening.stage is Stage.PERSIST:
            self.succeeded.add((str(happening.source_id),))

    def _page_got(self, page: PageGot) -> None:
        source = str(page.source_id)
        self.attempts.add((source, "unchanged" if page.unchanged else "ok"))
        if page.unchanged:
            self.succeeded.add((source,))
        self.scrapes.add((page.host, "success"))
        self.answers.add((_CLASSES.get(page.status_code // 100, "other"),))
        self.bytes.add((), page.size)
        self.took_ms.add(page.milliseconds)
        self.took.add(page.milliseconds / 1000, page.host)

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

    def _records_kept(self, kept: RecordsKept) -> None:
        source = (str(kept.source_id),)
        accepted = kept.inserted + kept.updated + kept.unchanged + kept.repeated
        self.extracted.add(source, accepted + kept.dropped + kept.quarantined)
        self.valid.add(source, accepted)
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


def _one_more(tally: LabelledCounter, _happening: Happening) -> None:
    tally.add()


class _Build(Collector):
    """Which version runs."""

    def __init__(self, version: str) -> None:
        self._version = version

    def collect(self) -> Iterator[InfoMetricFamily]:
        yield InfoMetricFamily("scraper_build", "The version that runs.", {"version": self._version})
