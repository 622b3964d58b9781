"""Gauges whose values another part of the system hands over."""

from collections.abc import Sequence

import msgspec
from prometheus_client.core import GaugeMetricFamily


class GaugeRows(msgspec.Struct, frozen=True, kw_only=True):
    """A gauge with its values, as another part of the system hands it over; a row is label values and a value."""

    name: str
    meaning: str
    labels: Sequence[str]
    rows: Sequence[tuple[Sequence[str], float]] = ()

    def having(self, rows: Sequence[tuple[Sequence[str], float]]) -> "GaugeRows":
        """Return the same gauge with these values."""
        return msgspec.structs.replace(self, rows=rows)

    def shown(self) -> GaugeMetricFamily:
        """Return it in Prometheus' form."""
        family = GaugeMetricFamily(self.name, self.meaning, labels=self.labels)
        for labels, value in self.rows:
            family.add_metric(labels, value)
        return family
