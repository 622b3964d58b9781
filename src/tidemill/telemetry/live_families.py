"""Live polling and browsers as metrics, by the names that the designs gave them."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.metrics_core import SummaryMetricFamily

FRESHNESS_BOUNDS = (10, 30, 60, 120)
QUANTILES = (0.5, 0.95, 0.99)


class InstanceGauges(msgspec.Struct, frozen=True, kw_only=True):
    """The browsers and contexts of one process."""

    pids: int = 0
    contexts: int = 0
    pages: int = 0
    browser_uptime_seconds: float = 0.0


class LiveGauges(msgspec.Struct, frozen=True, kw_only=True):
    """Live polling at one moment; `ages` are those of live things, in order."""

    instances: Mapping[str, InstanceGauges] = msgspec.field(default_factory=dict)
    queue_depth: Mapping[str, int] = msgspec.field(default_factory=dict)
    ages: Sequence[float] = ()
    recycles: Mapping[str, int] = msgspec.field(default_factory=dict)


_BY_INSTANCE = (
    ("scraper_pids_current", "Processes of browsers.", "pids"),
    ("scraper_contexts_active", "Pages that are polled live.", "contexts"),
    ("scraper_pages_open", "Browser pages in use.", "pages"),
    ("scraper_browser_uptime_seconds", "Age of the oldest browser.", "browser_uptime_seconds"),
)


def live_families(live: LiveGauges) -> Iterator[Metric]:
    """Yield the metrics of live polling."""
    for name, meaning, field in _BY_INSTANCE:
        family = GaugeMetricFamily(name, meaning, labels=("instance",))
        for instance, each in sorted(live.instances.items()):
            family.add_metric((instance,), getattr(each, field))
        yield family
    depth = GaugeMetricFamily("scraper_queue_depth", "Live pages that are due, by priority.", labels=("priority",))
    for priority, count in sorted(live.queue_depth.items()):
        depth.add_metric((priority,), count)
    yield depth
    recycles = CounterMetricFamily("scraper_recycles", "Browsers that were replaced, by reason.", labels=("reason",))
    for reason, count in sorted(live.recycles.items()):
        recycles.add_metric((reason,), count)
    yield recycles
    yield _freshness(live.ages)
    yield _staleness(live.ages)


def _freshness(ages: Sequence[float]) -> Metric:
    buckets = [(str(bound), float(sum(age <= bound for age in ages))) for bound in FRESHNESS_BOUNDS]
    family = HistogramMetricFamily("scraper_freshness_seconds", "Time since live things were checked.")
    family.add_metric((), [*buckets, ("+Inf", float(len(ages)))], sum(ages))
    return family


def _staleness(ages: Sequence[float]) -> Metric:
    meaning = "Time since live things were checked, by quantile."
    family = SummaryMetricFamily("scraper_data_staleness_seconds", meaning)
    family.add_metric((), len(ages), sum(ages))
    ordered = sorted(ages)
    for quantile in QUANTILES:
        if ordered:
            value = ordered[min(len(ordered) - 1, int(quantile * len(ordered)))]
            family.add_sample(family.name, {"quantile": str(quantile)}, value)
    return family
