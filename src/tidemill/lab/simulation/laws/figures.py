"""Figures: what the metrics say is what the tables say."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.pipeline.happenings import Happening
from tidemill.telemetry.counters import LabelledCounter
from tidemill.telemetry.metrics import Metrics

_HAPPENINGS = get_args(Happening)
EVERY_SOURCE = 1_000_000
"""No simulation has so many: each counts by itself."""


def metrics_equal_tables(finished: FinishedSimulation) -> LawVerdict:
    """Every counter of jobs, records and runs comes to the same as the rows that were written."""
    metrics = Metrics(process=False, most_sources=EVERY_SOURCE)
    for event in finished.recorder.events:
        if isinstance(event, _HAPPENINGS):
            metrics.count(event)
    pairs = [*compared(metrics, finished), *compared_by_source(metrics, finished)]
    breaches = [f"{name}: {said} counted, {rows} in the tables" for name, said, rows in pairs if said != rows]
    return verdict("metrics equal tables", f"{len(pairs)} counters", breaches)


def compared(metrics: Metrics, finished: FinishedSimulation) -> Iterator[tuple[str, float, float]]:
    """Each counter's name, its count, and what the tables come to."""
    runs = finished.rows.runs.values()
    closed = [run for run in runs if run["status"] != "RUNNING"]

    def column(name: str) -> int:
        return sum(run[name] for run in runs)

    for counter, name in (
        (metrics.succeeded, "urls_succeeded"),
        (metrics.failed, "urls_failed"),
        (metrics.refused, "urls_refused"),
        (metrics.extracted, "records_read"),
        (metrics.dropped, "records_dropped"),
        (metrics.quarantined, "records_quarantined"),
        (metrics.removed, "records_removed"),
    ):
        yield counter.name, total(counter), column(name)
    yield metrics.valid.name, total(metrics.valid) + finished.rows.staged, column("records_accepted")
    yield metrics.opened.name, total(metrics.opened), len(finished.rows.runs)
    yield metrics.closed.name, total(metrics.closed), len(closed)
    yield metrics.incomplete.name, total(metrics.incomplete), sum(not run["complete"] for run in closed)
    yield metrics.sold_out.name, total(metrics.sold_out), sum(run["oos_no_price_count"] for run in closed)
    for change in ("inserted", "updated", "unchanged", "repeated"):
        yield f"{metrics.records.name} {change}", total(metrics.records, change), column(f"records_{change}")


def compared_by_source(metrics: Metrics, finished: FinishedSimulation) -> Iterator[tuple[str, float, float]]:
    """Each counter of each source by itself: what one has too much must not hide what another lacks."""
    runs = finished.rows.runs.values()
    for counter, name in (
        (metrics.succeeded, "urls_succeeded"),
        (metrics.failed, "urls_failed"),
        (metrics.refused, "urls_refused"),
        (metrics.extracted, "records_read"),
        (metrics.dropped, "records_dropped"),
        (metrics.quarantined, "records_quarantined"),
    ):
        place = counter.labels.index("source_id")
        said: Counter[str] = Counter()
        rows: Counter[str] = Counter()
        for labels, count in counter.counts():
            said[labels[place]] += int(count)
        for run in runs:
            rows[str(run["source_id"])] += run[name]
        for source in sorted(said.keys() | rows.keys()):
            yield f"{counter.name} of source {source}", said[source], rows[source]


def total(counter: LabelledCounter, label: str | None = None) -> float:
    """A counter over all of its label values, or over those with this one."""
    return sum(count for labels, count in counter.counts() if label is None or label in labels)
