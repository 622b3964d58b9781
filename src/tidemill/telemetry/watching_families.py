"""The gauges of what people are told: open incidents, and how objectives stand; their values come from elsewhere."""

from tidemill.telemetry.gauge_rows import GaugeRows

OPEN_INCIDENTS = GaugeRows(
    name="scraper_incidents_open", meaning="Open incidents, by alert.", labels=("alert", "severity")
)  # fmt: skip

OBJECTIVE_BURN = GaugeRows(
    name="scraper_objective_burn",
    meaning="How many times too fast an objective's budget burns, over a window.",
    labels=("objective", "window"),
)
OBJECTIVE_LEFT = GaugeRows(
    name="scraper_objective_budget_left",
    meaning="The share of an objective's bad minutes that is left; negative when it is missed.",
    labels=("objective",),
)
WATCHING_GAUGES = (OPEN_INCIDENTS, OBJECTIVE_BURN, OBJECTIVE_LEFT)
"""Every gauge that stands here."""
