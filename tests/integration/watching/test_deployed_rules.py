"""What `deploy/` holds for Prometheus, Alertmanager and Grafana is up to date, and their own tools accept it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.rules import written_files

from rig.prometheus import checked
from tidemill.core.alerts.prometheus import ABOUT_US, RECORDED
from tidemill.core.alerts.table import ALERTS, RULES
from tidemill.telemetry.metrics import Metrics

pytestmark = pytest.mark.shows("H6")


@pytest.fixture
def deploy(project_root: Path) -> Path:
    return project_root / "deploy"


def test_the_written_files_are_those_that_the_code_writes(project_root: Path) -> None:
    stale = [place for place, text in written_files().items() if (project_root / place).read_text() != text]
    assert stale == [], "run `make rules`"


@pytest.mark.inventory(64)
def test_promtool_is_content_with_rules_and_configuration(deploy: Path) -> None:
    assert "SUCCESS" in checked("promtool", "check", "rules", "rules.yml", folder=deploy)
    assert "is valid prometheus config file" in checked("promtool", "check", "config", "prometheus.yml", folder=deploy)


@pytest.mark.inventory(124)
def test_every_rule_fires_under_its_series_and_under_no_others(deploy: Path) -> None:
    assert "SUCCESS" in checked("promtool", "test", "rules", "rules.test.yml", folder=deploy)
    named = {test["name"] for test in yaml.safe_load((deploy / "rules.test.yml").read_text())["tests"]}
    assert {f"{rule.name.value} {words}" for rule in RULES for words in ("fires", "is quiet")} <= named


def test_a_rule_with_another_number_fails_its_tests(deploy: Path, tmp_path: Path) -> None:
    rules, tests = (deploy / "rules.yml").read_text(), yaml.safe_load((deploy / "rules.test.yml").read_text())
    (tmp_path / "rules.yml").write_text(rules.replace("(scrape_targets_stale) > 100", "(scrape_targets_stale) > 101"))
    mine = [test for test in tests["tests"] if test["name"].startswith("targets_stale")]
    (tmp_path / "rules.test.yml").write_text(yaml.safe_dump(tests | {"tests": mine}))
    with pytest.raises(AssertionError, match="targets_stale"):
        checked("promtool", "test", "rules", "rules.test.yml", folder=tmp_path)


def test_amtool_is_content_with_the_configuration(deploy: Path) -> None:
    assert "SUCCESS" in checked("amtool", "check-config", "alertmanager.yml", folder=deploy)


def test_every_alert_of_the_table_is_a_rule_with_its_urgency_and_its_runbook(deploy: Path, project_root: Path) -> None:
    rules = [each for group in yaml.safe_load((deploy / "rules.yml").read_text())["groups"] for each in group["rules"]]
    alerting = {each["alert"]: each for each in rules if "alert" in each}
    assert set(alerting) == {name.value for name in ALERTS} | {each.name for each in ABOUT_US}
    for rule in RULES:
        written = alerting[rule.name.value]
        assert written["labels"] == {"severity": rule.severity.value}
        assert written["annotations"]["summary"] == rule.condition
    for written in alerting.values():
        assert (project_root / written["annotations"]["runbook_url"]).is_file()


_NAME = re.compile(r"(?<![\w:])((?:scrape|scraper|tidemill|process)_[a-z0-9_]+)(?![\w:])")
_SUFFIXES = ("_total", "_bucket", "_sum", "_count", "_info")


def known_names() -> set[str]:
    names = {family.name for family in Metrics(process=True).registry.collect()}
    return names | {family.name for family in Metrics()._gauges.describe()}


def queries(deploy: Path) -> list[str]:
    rules = [each for group in yaml.safe_load((deploy / "rules.yml").read_text())["groups"] for each in group["rules"]]
    return [each["expr"] for each in rules] + [query for _, query in panel_queries(deploy)]


def panel_queries(deploy: Path) -> list[tuple[str, str]]:
    panels: list[Any] = json.loads((deploy / "dashboard.json").read_text())["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", ())]


def test_rules_and_dashboard_name_only_metrics_that_exist(deploy: Path) -> None:
    known = known_names()
    named = {name for query in queries(deploy) for name in _NAME.findall(query)}
    bare = {name: next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name) for name in named}
    assert sorted(name for name, short in bare.items() if not {name, short} & known) == []
    assert len(named) > 30


def test_recorded_series_are_used(deploy: Path) -> None:
    used = "\n".join(queries(deploy))
    assert [each.name for each in RECORDED if each.name not in used] == []
