"""The table of alerts is whole, unambiguous and says what to do."""

from datetime import timedelta

import pytest

from tidemill.core.alerts.table import ALERTS, RULES, AlertName, AlertRule, CauseKind, Severity

ASKED_FOR = {
    "adapter_disabled": ("P1", None), "failure_rate": ("P2", 0.5), "queue_rejections": ("P2", 3),
    "targets_stale": ("P3", 100), "breaker_open": ("P2", None), "breakers_open": ("P1", 0.5),
    "dead_letters": ("P2", 50), "no_records": ("P2", 24), "llm_budget": ("P2", None),
    "scrapingbee_budget": ("P2", None), "dns_or_tls": ("P2", None), "discovery_spilled": ("P2", None),
    "disk_full": ("P1", 0.01), "disk_low": ("P2", 0.10), "zero_price": ("P1", None), "scope_overdue": ("P2", None),
    "tick_silent": ("P1", 3), "long_backoff": ("P2", 30), "clock_skew": ("P3", 0.5), "field_share": ("P2", 0.05),
    "grade_failing": ("P1", 120), "grade_degraded": ("P2", 60), "recovery_loop": ("P1", 5),
    "selector_failing": ("P3", 0.10), "objective_fast_burn": ("P1", 14.4), "objective_burn": ("P2", 6),
    "objective_slow_burn": ("P3", 1), "check_failed": ("P1", None),
}  # fmt: skip


def test_every_alert_has_exactly_one_row():
    assert [rule.name for rule in RULES] == list(ALERTS)
    assert set(ALERTS) == set(AlertName)


@pytest.mark.parametrize("name", ASKED_FOR)
def test_the_alerts_that_the_designs_name_have_their_severity_and_their_number(name: str):
    rule = ALERTS[AlertName(name)]
    assert (rule.severity.value, rule.limit) == ASKED_FOR[name]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_row_says_what_it_means_and_what_to_do(rule: AlertRule):
    assert rule.meaning.endswith(".")
    assert rule.action.endswith(".")
    assert rule.condition
    assert not rule.condition.endswith(".")
    assert rule.runbook_path == f"docs/runbooks/{rule.runbook}.md"
    assert timedelta(0) <= rule.delay <= timedelta(minutes=15)
    assert rule.cause in CauseKind


def test_runbooks_are_not_shared():
    assert len({rule.runbook for rule in RULES}) == len(RULES)


def test_a_severity_is_above_those_that_are_less_urgent():
    assert Severity.P1.is_above(Severity.P2)
    assert Severity.P2.is_above(Severity.P3)
    assert not Severity.P2.is_above(Severity.P2)


def test_a_degraded_grade_is_given_five_minutes():
    assert ALERTS[AlertName.GRADE_DEGRADED].delay == timedelta(minutes=5)
