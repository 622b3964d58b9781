"""The hosted runner's file agrees with what the project says of itself."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from rig.databases import DATABASES


@pytest.fixture
def workflow(project_root: Path) -> dict[str, Any]:
    return yaml.safe_load((project_root / ".github/workflows/ci.yml").read_text())


@pytest.fixture
def project(project_root: Path) -> dict[str, Any]:
    return tomllib.loads((project_root / "pyproject.toml").read_text())["project"]


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def minor(version: str) -> int:
    return int(version.removeprefix("3."))


def test_every_python_that_we_name_is_tested(workflow: dict[str, Any], project: dict[str, Any]) -> None:
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert tested == named
    assert project["requires-python"] == f">={tested[0]}"
    assert [minor(version) for version in tested] == list(range(minor(tested[0]), minor(tested[-1]) + 1))


def test_every_python_is_tested_on_every_database(workflow: dict[str, Any]) -> None:
    test = workflow["jobs"]["test"]
    assert tuple(test["strategy"]["matrix"]["database"]) == DATABASES
    assert test["env"] == {"TEST_DATABASE": "${{ matrix.database }}"}
    assert commands(test) == ["make test"]


def test_style_is_checked_once_with_the_oldest_python(workflow: dict[str, Any], project: dict[str, Any]) -> None:
    check = workflow["jobs"]["check"]
    assert commands(check) == ["make check"]
    (version,) = [step["with"]["python-version"] for step in check["steps"] if "with" in step]
    assert project["requires-python"] == f">={version}"


def test_the_runner_may_only_read(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
