"""The tests of Prometheus' rules, as promtool runs them: each alert fires under its series, and not under others."""

from datetime import timedelta
from typing import Any

from tidemill.core.alerts.prometheus import ALERTING, PrometheusRule, whole_minutes

FIRED_AT = timedelta(minutes=12)
"""When the tests look: longer than any alert waits."""


def rule_tests(rules_file: str) -> dict[str, Any]:
    """Return promtool's file of tests for the rules in a file beside it."""
    return {
        "rule_files": [rules_file],
        "evaluation_interval": "1m",
        "tests": [test for rule in ALERTING for test in (_test(rule, fires=True), _test(rule, fires=False))],
    }


def _test(rule: PrometheusRule, *, fires: bool) -> dict[str, Any]:
    series = rule.fires if fires else rule.quiet
    told = {"exp_alerts": [_expected(rule)]} if fires else {}
    return {
        "name": f"{rule.name} {'fires' if fires else 'is quiet'}",
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": whole_minutes(FIRED_AT), "alertname": rule.name, **told}],
    }


def _expected(rule: PrometheusRule) -> dict[str, Any]:
    severity = {} if rule.severity is None else {"severity": rule.severity.value}
    annotations = {"summary": rule.summary, "description": rule.action, "runbook_url": rule.runbook}
    return {"exp_labels": {**severity, **rule.labels}, "exp_annotations": annotations}
