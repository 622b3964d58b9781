"""Nothing is counted that the documents do not name, and they name nothing that is not counted."""

import re
from pathlib import Path
from typing import Any

import pytest

from tidemill.telemetry.metrics import Metrics

pytestmark = pytest.mark.shows("H6")

SUFFIX = {"counter": "_total", "info": "_info"}


def names(metrics: Metrics) -> set[str]:
    families = [family for each in set(metrics.registry._collector_to_names) for family in described(each)]
    return {family.name + SUFFIX.get(family.type, "") for family in families}


def described(collector: Any) -> list[Any]:
    describe = getattr(collector, "describe", None) or collector.collect
    return list(describe())


def test_every_metric_is_documented_and_every_documented_one_exists(project_root: Path) -> None:
    page = (project_root / "docs" / "metrics.md").read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert names(Metrics(process=False)) == documented
