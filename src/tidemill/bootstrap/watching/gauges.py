"""The gauges of what people are told, for `/metrics`: open incidents, and how objectives stand."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from tidemill.core.alerts.table import RULES
from tidemill.core.views.objectives import ObjectiveView
from tidemill.telemetry.gauge_rows import GaugeRows
from tidemill.telemetry.watching_families import OBJECTIVE_BURN, OBJECTIVE_LEFT, OPEN_INCIDENTS

ReadGauges = Callable[[], Awaitable[Sequence[GaugeRows]]]


def watching_gauges(
    open_counts: Callable[[], Awaitable[Mapping[str, int]]],
    objectives: Callable[[], Awaitable[Sequence[ObjectiveView]]],
) -> ReadGauges:
    """Return what reads these gauges; every alert has its series, so that a rule over it is never without data."""

    async def read() -> list[GaugeRows]:
        return [open_incidents(await open_counts()), *objective_gauges(await objectives())]

    return read


def open_incidents(counts: Mapping[str, int]) -> GaugeRows:
    """Return the gauge of open incidents."""
    return OPEN_INCIDENTS.having([((rule.name, rule.severity), counts.get(rule.name, 0)) for rule in RULES])


def objective_gauges(found: Sequence[ObjectiveView]) -> list[GaugeRows]:
    """Return the gauges of objectives."""
    burn = [((each.name, window), rate) for each in found for window, rate in each.burn.items()]
    return [OBJECTIVE_BURN.having(burn), OBJECTIVE_LEFT.having([((each.name,), each.left_share) for each in found])]
