"""Rules for Prometheus from the table of alerts: what is recorded, and what fires."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.alerts.table import ALERTS, RULES, AlertName, AlertRule, Severity
from tidemill.core.objectives.burn import BURN_ALERTS

JOB = "tidemill"
"""What the job of Prometheus is called that asks our processes for their metrics."""
EVALUATED_EVERY = "30s"
WATCHED_BY = "alerts"
"""The tick that opens incidents; while it is silent, no rule over incidents can fire."""


class PrometheusRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule: a recorded one has no severity.

    `fires` and `quiet` are series, as promtool writes them, under which an alert fires and does not; a test tries both.
    `labels` are those that the alert then carries beside its severity.
    """

    name: str
    expression: str
    delay: timedelta = timedelta(0)
    severity: Severity | None = None
    summary: str = ""
    action: str = ""
    runbook: str = ""
    fires: Mapping[str, str] = msgspec.field(default_factory=dict)
    quiet: Mapping[str, str] = msgspec.field(default_factory=dict)
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)


def _recorded(name: str, expression: str) -> PrometheusRule:
    return PrometheusRule(name=name, expression=expression)


_FAILED, _TRIED = "scrape_urls_failed_total", 'scrape_urls_attempted_total{status!="refused"}'

RECORDED: tuple[PrometheusRule, ...] = (
    _recorded("adapter_id:scrape_attempts:increase1h", f"sum by (adapter_id) (increase({_TRIED}[1h]))"),
    _recorded(
        "adapter_id:scrape_failures:ratio1h",
        f"sum by (adapter_id) (increase({_FAILED}[1h])) / (adapter_id:scrape_attempts:increase1h > 0)",
    ),
    _recorded(
        "adapter_id:scrape_fetch_seconds:p95_5m",
        "histogram_quantile(0.95, sum by (adapter_id, le) (rate(scrape_fetch_duration_seconds_bucket[5m])))",
    ),
    _recorded(
        "domain:scrape_wait_seconds:p95_5m",
        "histogram_quantile(0.95, sum by (domain, le) (rate(scrape_rate_limit_wait_seconds_bucket[5m])))",
    ),
    _recorded("change:scrape_records:rate5m", "sum by (vertical, change) (rate(scrape_records_total[5m]))"),
    _recorded(
        "vertical:scrape_sources_available:ratio",
        'max by (vertical) (scrape_sources{state="available"}) '
        "/ sum by (vertical) (max by (vertical, state) (scrape_sources))",
    ),
)
"""What the alerts and the dashboard are computed from."""


def _number(alert: AlertName) -> str:
    return f"{ALERTS[alert].limit or 0:g}"


def _burns(alert: AlertName, *windows: str) -> str:
    """Return the expression of an objective that burns too fast over each of these windows."""
    return " and ".join(
        f'max by (objective) (scraper_objective_burn{{window="{window}"}}) > {_number(alert)}' for window in windows
    )


def _burn_series(value: float, *windows: str) -> dict[str, str]:
    return {
        f'scraper_objective_burn{{job="{JOB}", objective="a", window="{window}"}}': f"{value:g}x60"
        for window in windows
    }


class _Measured(msgspec.Struct, frozen=True, kw_only=True):
    """An alert that a metric tells of by itself, with series that make it fire and that do not."""

    expression: str
    fires: Mapping[str, str]
    quiet: Mapping[str, str]
    delay: timedelta | None = None
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)


_ATTEMPTS = f'scrape_urls_attempted_total{{job="{JOB}", adapter_id="a", source_id="1", status="ok"}}'
_FAILURES = f'scrape_urls_failed_total{{job="{JOB}", adapter_id="a", source_id="1", reason="timeout"}}'
_REJECTED = f'scrape_queue_rejected_total{{job="{JOB}", reason="full"}}'
_FAST, _MIDDLE, _SLOW = BURN_ALERTS.values()

MEASURED: Mapping[AlertName, _Measured] = {
    AlertName.FAILURE_RATE: _Measured(
        expression=f"adapter_id:scrape_failures:ratio1h > {_number(AlertName.FAILURE_RATE)} "
        "and adapter_id:scrape_attempts:increase1h >= 20",
        fires={_ATTEMPTS: "0+10x60", _FAILURES: "0+6x60"},
        quiet={_ATTEMPTS: "0+10x60", _FAILURES: "0+4x60"},
        labels={"adapter_id": "a"},
    ),
    AlertName.QUEUE_REJECTIONS: _Measured(
        expression="sum(rate(scrape_queue_rejected_total[5m])) > 0",
        delay=timedelta(minutes=ALERTS[AlertName.QUEUE_REJECTIONS].limit or 0),
        fires={_REJECTED: "0+3x60"},
        quiet={_REJECTED: "7x60"},
    ),
    AlertName.TARGETS_STALE: _Measured(
        expression=f"max(scrape_targets_stale) > {_number(AlertName.TARGETS_STALE)}",
        fires={f'scrape_targets_stale{{job="{JOB}"}}': "101x60"},
        quiet={f'scrape_targets_stale{{job="{JOB}"}}': "100x60"},
    ),
    AlertName.BREAKER_OPEN: _Measured(
        expression='max(scraper_circuit_breakers{state="OPEN"}) > 0',
        fires={f'scraper_circuit_breakers{{job="{JOB}", state="OPEN"}}': "1x60"},
        quiet={f'scraper_circuit_breakers{{job="{JOB}", state="OPEN"}}': "0x60"},
    ),
    AlertName.DEAD_LETTERS: _Measured(
        expression=f'max(scraper_dead_letters{{status="pending"}}) > {_number(AlertName.DEAD_LETTERS)}',
        fires={f'scraper_dead_letters{{job="{JOB}", status="pending"}}': "51x60"},
        quiet={f'scraper_dead_letters{{job="{JOB}", status="pending"}}': "50x60"},
    ),
    AlertName.TICK_SILENT: _Measured(
        expression="max(scraper_ticks_overdue) > 0",
        fires={f'scraper_ticks_overdue{{job="{JOB}"}}': "1x60"},
        quiet={f'scraper_ticks_overdue{{job="{JOB}"}}': "0x60"},
    ),
    AlertName.OBJECTIVE_FAST_BURN: _Measured(
        expression=_burns(AlertName.OBJECTIVE_FAST_BURN, *_FAST),
        labels={"objective": "a"},
        fires=_burn_series(14.5, *_FAST),
        quiet=_burn_series(14.5, "5m") | _burn_series(14.3, "1h"),
    ),
    AlertName.OBJECTIVE_BURN: _Measured(
        expression=_burns(AlertName.OBJECTIVE_BURN, *_MIDDLE),
        labels={"objective": "a"},
        fires=_burn_series(6.1, *_MIDDLE),
        quiet=_burn_series(6.1, "6h") | _burn_series(0, "30m"),
    ),
    AlertName.OBJECTIVE_SLOW_BURN: _Measured(
        expression=_burns(AlertName.OBJECTIVE_SLOW_BURN, *_SLOW),
        labels={"objective": "a"},
        fires=_burn_series(1.1, *_SLOW),
        quiet=_burn_series(1, *_SLOW),
    ),
}
"""The alerts whose number stands in a metric; all others follow the incidents that Tidemill opens by itself."""


def _of_incidents(rule: AlertRule) -> _Measured:
    """Return the rule that follows our own incidents; they have waited for the alert's delay already."""
    series = f'scraper_incidents_open{{job="{JOB}", alert="{rule.name}", severity="{rule.severity}"}}'
    return _Measured(
        expression=f'max(scraper_incidents_open{{alert="{rule.name}"}}) > 0',
        delay=timedelta(0),
        fires={series: "1x60"},
        quiet={series: "0x60"},
    )


def _alerting(rule: AlertRule) -> PrometheusRule:
    measured = MEASURED.get(rule.name) or _of_incidents(rule)
    return PrometheusRule(
        name=rule.name.value,
        expression=measured.expression,
        delay=rule.delay if measured.delay is None else measured.delay,
        severity=rule.severity,
        summary=rule.condition,
        action=f"{rule.meaning} {rule.action}",
        runbook=rule.runbook_path,
        fires=measured.fires,
        quiet=measured.quiet,
        labels=measured.labels,
    )


ABOUT_US: tuple[PrometheusRule, ...] = (
    PrometheusRule(
        name="process_gone",
        expression=f'up{{job="{JOB}"}} == 0',
        delay=timedelta(minutes=2),
        severity=Severity.P1,
        summary="a process does not answer when it is asked for its metrics",
        action="It died, hangs, or cannot be reached. See whether it runs, and read its log.",
        runbook="docs/runbooks/tick-silent.md",
        fires={f'up{{job="{JOB}", instance="a"}}': "0x60"},
        quiet={f'up{{job="{JOB}", instance="a"}}': "1x60"},
        labels={"job": JOB, "instance": "a"},
    ),
    PrometheusRule(
        name="nobody_watches",
        expression=f'min(scraper_tick_age_seconds{{tick="{WATCHED_BY}"}}) > 180 '
        f'or absent(scraper_tick_age_seconds{{tick="{WATCHED_BY}"}})',
        delay=timedelta(minutes=2),
        severity=Severity.P1,
        summary="the tick that opens incidents has not gone well for three minutes, or nobody tells of it",
        action="No alert of ours can fire. See whether a process runs that does periodic work, and what its log says.",
        runbook="docs/runbooks/tick-silent.md",
        fires={f'scraper_tick_age_seconds{{job="{JOB}", tick="{WATCHED_BY}"}}': "200x60"},
        quiet={f'scraper_tick_age_seconds{{job="{JOB}", tick="{WATCHED_BY}"}}': "60x60"},
    ),
)
"""What we cannot tell of ourselves: that we are gone, or that nobody looks."""

ALERTING: tuple[PrometheusRule, ...] = (*map(_alerting, RULES), *ABOUT_US)


def rule_file(runbooks: str = "") -> dict[str, Any]:
    """Return Prometheus' file of rules; `runbooks` is the address under which runbooks are found."""
    return {
        "groups": [
            {
                "name": "tidemill-recorded",
                "interval": EVALUATED_EVERY,
                "rules": [{"record": each.name, "expr": each.expression} for each in RECORDED],
            },
            {
                "name": "tidemill-alerts",
                "interval": EVALUATED_EVERY,
                "rules": [_as_rule(each, runbooks) for each in ALERTING],
            },
        ]
    }


def _as_rule(rule: PrometheusRule, runbooks: str) -> dict[str, Any]:
    labels = {"severity": rule.severity.value} if rule.severity is not None else {}
    held = {"for": whole_minutes(rule.delay)} if rule.delay else {}
    return {
        "alert": rule.name,
        "expr": rule.expression,
        **held,
        "labels": labels,
        "annotations": {"summary": rule.summary, "description": rule.action, "runbook_url": _address(rule, runbooks)},
    }


def _address(rule: PrometheusRule, runbooks: str) -> str:
    return f"{runbooks.rstrip('/')}/{rule.runbook.rpartition('/')[2]}" if runbooks else rule.runbook


def whole_minutes(delay: timedelta) -> str:
    """Return a length of time as Prometheus writes it."""
    return f"{delay // timedelta(minutes=1)}m"
