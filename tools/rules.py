"""Writes what Prometheus and Grafana load in `deploy/`: rules, their tests and the dashboard, from the code."""

import sys
from pathlib import Path
from typing import Any

import yaml
from tools.dashboard import dashboard_json

from tidemill.core.alerts.prometheus import rule_file
from tidemill.core.alerts.prometheus_tests import rule_tests

ROOT = Path(__file__).resolve().parent.parent
NOTE = "# Written by `make rules` from the table of alerts; a test fails when it is out of date.\n"
RULES, TESTS, DASHBOARD = "deploy/rules.yml", "deploy/rules.test.yml", "deploy/dashboard.json"


def as_yaml(value: Any) -> str:
    """Return a value as YAML, with a note on where it comes from."""
    return NOTE + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)


def written_files() -> dict[str, str]:
    """Return the text of each file by its place in the project."""
    return {
        RULES: as_yaml(rule_file()),
        TESTS: as_yaml(rule_tests(Path(RULES).name)),
        DASHBOARD: dashboard_json(),
    }


def main() -> int:
    """Write those that differ."""
    for place, text in written_files().items():
        file = ROOT / place
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
            print(f"{place} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
