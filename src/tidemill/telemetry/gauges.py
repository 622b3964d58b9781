"""The current state as gauges: filled from a snapshot when they are read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tidemill.telemetry.counters import OTHER
from tidemill.telemetry.gauge_rows import GaugeRows
from tidemill.telemetry.live_families import LiveGauges, live_families
from tidemill.telemetry.watching_families import WATCHING_GAUGES

BREAKER_STATES = ("CLOSED", "HALF_OPEN", "OPEN")


class SourceGauges(msgspec.Struct, frozen=True, kw_only=True):
    """One source as the gauges show it."""

    id: int
    name: str
    vertical: str
    adapter_id: str
    available: bool
    breaker: str
    targets: int
    targets_active: int
    records: int
    last_success_at: datetime | None
    targets_broken: int = 0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The state of everything at one moment."""

    at: datetime
    jobs: Mapping[str, int] = msgspec.field(default_factory=dict)
    dead_letters: Mapping[str, int] = msgspec.field(default_factory=dict)
    breakers: Mapping[str, int] = msgspec.field(default_factory=dict)
    pending: Mapping[str, int] = msgspec.field(default_factory=dict)
    adapters: Mapping[str, bool] = msgspec.field(default_factory=dict)
    sources: Sequence[SourceGauges] = ()
    workers: int = 0
    ticks_overdue: int = 0
    services: Mapping[str, str] = msgspec.field(default_factory=dict)
    tick_success: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    live: LiveGauges = LiveGauges()
    ready: Mapping[str, int] = msgspec.field(default_factory=dict)
    rows: Sequence[GaugeRows] = ()


class Gauges(Collector):
    """Shows the latest snapshot, and nothing before the first one."""

    def __init__(self, most_sources: int = 500) -> None:
        """Start without a snapshot; so many sources have gauges of their own."""
        self._most_sources = most_sources
        self._latest: Snapshot | None = None

    def show(self, snapshot: Snapshot | None) -> None:
        """Replace the snapshot; None when the database could not be read."""
        self._latest = snapshot

    def collect(self) -> Iterable[Metric]:
        """Yield the gauges in Prometheus' form."""
        now = self._latest
        return iter(()) if now is None else self._families(now)

    def describe(self) -> Iterable[Metric]:
        """Yield every gauge there is, for the registry and for the test that looks for them in the documents."""
        return self._families(Snapshot(at=datetime.min.replace(tzinfo=UTC), rows=WATCHING_GAUGES))

    def _families(self, now: Snapshot) -> Iterator[Metric]:
        yield _gauge_by_label("scraper_jobs", "Jobs by state.", "state", now.jobs)
        yield _gauge_by_label(
            "scrape_queue_pending", "Jobs that wait or are in hand, by adapter.", "adapter_id", now.pending
        )
        yield _gauge_by_label("scraper_dead_letters", "Dead letters by status.", "status", now.dead_letters)
        breakers = {state: now.breakers.get(state, 0) for state in BREAKER_STATES}
        yield _gauge_by_label("scraper_circuit_breakers", "Circuit breakers by state.", "state", breakers)
        adapters = {name: float(on) for name, on in now.adapters.items()}
        yield _gauge_by_label(
            "scrape_adapter_enabled", "1 while an adapter is switched on, else 0.", "adapter_id", adapters
        )
        yield GaugeMetricFamily("scraper_workers", "Worker processes that are alive.", now.workers)
        yield GaugeMetricFamily("scraper_ticks_overdue", "Periodic work that is overdue.", now.ticks_overdue)
        degraded = {name: float(state == "degraded") for name, state in now.services.items()}
        yield _gauge_by_label(
            "scraper_service_degraded", "1 while an outside service is degraded, else 0.", "service", degraded
        )
        ages = {name: (now.at - last).total_seconds() for name, last in now.tick_success.items()}
        yield _gauge_by_label("scraper_tick_age_seconds", "Time since periodic work last went well.", "tick", ages)
        stale = now.jobs.get("stale", 0)
        yield GaugeMetricFamily("scrape_targets_stale", "Jobs that waited too long and were given up.", stale)
        yield _gauge_by_label("tidemill_ready_jobs", "Jobs that a worker could take now, by lane.", "lane", now.ready)
        yield _sources_by_vertical(now)
        yield from _source_families(now, self._most_sources)
        for family in now.rows:
            yield family.shown()
        yield from live_families(now.live)


def _gauge_by_label(name: str, meaning: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=(label,))
    for key, value in sorted(values.items()):
        family.add_metric((key,), value)
    return family


def _sources_by_vertical(now: Snapshot) -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "scrape_sources", "Sources, by vertical and whether they may be asked.", labels=("vertical", "state")
    )
    counts = Counter((each.vertical, "available" if each.available else "unavailable") for each in now.sources)
    for key, count in sorted(counts.items()):
        family.add_metric(key, count)
    return family


def _source_families(now: Snapshot, most: int) -> Iterator[GaugeMetricFamily]:
    info = GaugeMetricFamily(
        "scrape_source_info", "1 per source, to look up its name and adapter by source_id.",
        labels=("source_id", "source", "adapter_id", "vertical"),
    )  # fmt: skip
    labels = ("adapter_id", "source_id")
    up = GaugeMetricFamily("scrape_source_available", "1 while a source may be asked, else 0.", labels=labels)
    active = GaugeMetricFamily("scrape_targets_active", "Targets that are switched on.", labels=labels)
    broken = GaugeMetricFamily("scrape_targets_broken", "Targets that failed too often in a row.", labels=labels)
    records = GaugeMetricFamily("scrape_source_records", "Records that readers see, by source.", labels=labels)
    age = GaugeMetricFamily("scrape_source_age_seconds", "Time since a source last answered well.", labels=labels)
    ordered = sorted(now.sources, key=lambda source: source.id)
    for source in ordered[:most]:
        key = (source.adapter_id, str(source.id))
        info.add_metric((str(source.id), source.name, source.adapter_id, source.vertical), 1)
        up.add_metric(key, float(source.available))
        active.add_metric(key, source.targets_active)
        broken.add_metric(key, source.targets_broken)
        records.add_metric(key, source.records)
        if source.last_success_at is not None:
            age.add_metric(key, (now.at - source.last_success_at).total_seconds())
    for adapter, (on, failing, held) in sorted(_sums_by_adapter(ordered[most:]).items()):
        active.add_metric((adapter, OTHER), on)
        broken.add_metric((adapter, OTHER), failing)
        records.add_metric((adapter, OTHER), held)
    yield from (info, up, active, broken, records, age)


def _sums_by_adapter(sources: Sequence[SourceGauges]) -> dict[str, tuple[int, int, int]]:
    sums: dict[str, tuple[int, int, int]] = {}
    for source in sources:
        on, failing, held = sums.get(source.adapter_id, (0, 0, 0))
        sums[source.adapter_id] = (
            on + source.targets_active, failing + source.targets_broken, held + source.records
        )  # fmt: skip
    return sums
