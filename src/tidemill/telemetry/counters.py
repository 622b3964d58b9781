"""Counters that cost a dictionary update each, and are formatted for Prometheus only when they are read.

The client library's own counters take a lock and some method calls each time; a page raises about ten of them, and
the whole budget of a page is a millisecond. Everything here runs on one event loop, so no lock is needed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

MOST_SERIES = 1_000
OTHER = "other"
"""Label values come from outside (hosts, sources); past `MOST_SERIES` the rest is counted under this name."""
OPEN_LABELS = frozenset({"source_id", "domain"})
"""The labels with any number of values; the others are kept for what is counted as `other`."""
THOUSAND = 1_000


class LabelledCounter(Collector):
    """A counter with labels."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = (), max_series: int = MOST_SERIES) -> None:
        """`name` is without `_total`, which the format adds."""
        self.name = name
        self.meaning = meaning
        self.labels = tuple(labels)
        self._max_series = max_series
        self._open = tuple(label in OPEN_LABELS for label in self.labels)
        self._counts: dict[tuple[str, ...], float] = {} if labels else {(): 0}

    def add(self, labels: tuple[str, ...] = (), amount: float = 1) -> None:
        """Increase the count of these label values."""
        if labels in self._counts:
            self._counts[labels] += amount
        elif amount:
            self._add_series(labels, amount)

    def _add_series(self, labels: tuple[str, ...], amount: float) -> None:
        key = labels
        if len(self._counts) >= self._max_series:
            pairs = zip(labels, self._open, strict=True)
            key = tuple(OTHER if is_open else label for label, is_open in pairs)
        if key not in self._counts and len(self._counts) >= 2 * self._max_series:
            key = (OTHER,) * len(labels)
        self._counts[key] = self._counts.get(key, 0) + amount

    def count(self, *labels: str) -> float:
        """Return the count of these label values."""
        return self._counts.get(labels, 0)

    def counts(self) -> Iterable[tuple[tuple[str, ...], float]]:
        """Return every series with its count."""
        return self._counts.items()

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the counter in Prometheus' form."""
        family = CounterMetricFamily(self.name, self.meaning, labels=self.labels)
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        yield family


class HistogramCounter(Collector):
    """A histogram with at most one label."""

    def __init__(
        self, name: str, meaning: str, bounds: Sequence[float], label: str | None = None, max_series: int = 100
    ) -> None:
        """`bounds` are the buckets' upper ends, ascending; what is above them all goes into the last bucket.

        A name that ends in `_ms` is shown in seconds too, under the same name with `_seconds`.
        """
        self.name = name
        self.meaning = meaning
        self.label = label
        self._bounds = tuple(bounds)
        self._max_series = max_series
        self._cells: dict[str, list[float]] = {} if label else {"": self._empty()}

    def _empty(self) -> list[float]:
        """Return one cell per bucket, one for what is above, and the sum at the end."""
        return [0.0] * (len(self._bounds) + 2)

    def add(self, amount: float, label: str = "") -> None:
        """Count one measurement."""
        cells = self._cells.get(label)
        if cells is None:
            name = label if len(self._cells) < self._max_series else OTHER
            cells = self._cells.setdefault(name, self._empty())
        cells[bisect_left(self._bounds, amount)] += 1
        cells[-1] += amount

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Yield the histogram in Prometheus' form: each bucket counts all below it as well."""
        yield self._family(self.name, self._bounds, 1)
        if self.name.endswith("_ms"):
            bounds = [bound / THOUSAND for bound in self._bounds]
            yield self._family(self.name.removesuffix("_ms") + "_seconds", bounds, THOUSAND)

    def _family(self, name: str, bounds: Sequence[float], divisor: float) -> HistogramMetricFamily:
        family = HistogramMetricFamily(name, self.meaning, labels=(self.label,) if self.label else ())
        ends = (*map(str, bounds), "+Inf")
        for label, cells in self._cells.items():
            buckets, below = [], 0.0
            for end, count in zip(ends, cells, strict=False):
                below += count
                buckets.append((end, below))
            family.add_metric((label,) if self.label else (), buckets, cells[-1] / divisor)
        return family

    def measured(self, label: str = "") -> tuple[float, float]:
        """Return how many measurements there were, and their sum."""
        cells = self._cells.get(label, self._empty())
        return sum(cells[:-1]), cells[-1]
