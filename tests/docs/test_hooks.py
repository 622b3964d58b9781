"""Every hook of a commit fires on what it is there for, and `make check` runs the same tools."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

BAD = {
    "ruff-check": ("bad.py", "import os\n"),
    "ruff-format": ("bad.py", "x=  1\n"),
    "mypy": ("src/bad.py", 'x: int = "one"\n'),
    "secrets": ("bad.txt", "key = AKIA" + "QYLPMN5HHHFPZAM2\n"),
    "trailing-whitespace": ("bad.md", "words \n"),
    "end-of-file": ("bad.md", "words"),
    "merge-markers": ("bad.md", "<<<<<<< HEAD\n"),
    "large-files": ("bad one.bin", "x" * 600_000),
}


def hooks_of(root: Path) -> dict[str, dict[str, Any]]:
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    assert {repository["repo"] for repository in config["repos"]} == {"local"}, "hooks come from nowhere else"
    return {hook["id"]: hook for repository in config["repos"] for hook in repository["hooks"]}


@pytest.fixture
def checkout(project_root: Path, tmp_path: Path) -> Path:
    """A small repository with our hooks and our tools."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / ".pre-commit-config.yaml").write_text((project_root / ".pre-commit-config.yaml").read_text())
    (tmp_path / "src").mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    return tmp_path


def run_hook(checkout: Path, hook: str, file: str) -> subprocess.CompletedProcess[str]:
    command = ["env", f"PRE_COMMIT_HOME={checkout / 'cache'}", ".venv/bin/pre-commit", "run", hook, "--files", file]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_every_hook_has_an_example_that_it_refuses(project_root: Path) -> None:
    assert set(hooks_of(project_root)) == set(BAD)


@pytest.mark.parametrize("hook", BAD)
def test_a_hook_refuses_what_it_is_there_for_and_nothing_else(checkout: Path, hook: str) -> None:
    file, text = BAD[hook]
    (checkout / file).write_text(text)
    refused = run_hook(checkout, hook, file)
    assert (refused.returncode, f"hook id: {hook}" in refused.stdout) == (1, True), refused.stdout
    assert (checkout / file).read_text() == text
    (checkout / file).write_text('"""Fine."""\n')
    passed = run_hook(checkout, hook, file)
    assert passed.returncode == 0, passed.stdout


def test_the_hooks_that_make_check_leaves_out_are_tools_that_it_runs_itself(project_root: Path) -> None:
    makefile = (project_root / "Makefile").read_text()
    (left_out,) = re.findall(r"SKIP=(\S+)", makefile)
    for hook in left_out.split(","):
        tool = hooks_of(project_root)[hook]["entry"].removeprefix(".venv/bin/").replace(" --force-exclude", "")
        assert f"@$(BIN)/{tool}\n" in makefile
