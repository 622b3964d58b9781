import subprocess
import sys
from pathlib import Path

import pytest

SUITE = "tests/contract/store/test_migrations.py"


def collected(root: Path, wanted: str) -> subprocess.CompletedProcess[str]:
    """What pytest would run of one suite of the store, with the switch set."""
    command = ["env", f"TEST_DATABASE={wanted}", sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0"]
    return subprocess.run([*command, SUITE], cwd=root, capture_output=True, text=True, check=False)


def names(root: Path, wanted: str) -> set[str]:
    return {line for line in collected(root, wanted).stdout.splitlines() if line.startswith(SUITE)}


@pytest.mark.parametrize(("wanted", "other"), [("sqlite", "[postgresql"), ("postgresql", "[sqlite")])
def test_the_switch_leaves_out_the_other_database(project_root: Path, wanted: str, other: str) -> None:
    found = names(project_root, wanted)
    assert any(f"[{wanted}" in name for name in found)
    assert not any(other in name for name in found)


def test_the_two_halves_are_the_whole_and_share_nothing(project_root: Path) -> None:
    sqlite, postgresql = names(project_root, "sqlite"), names(project_root, "postgresql")
    assert sqlite | postgresql == names(project_root, "")
    assert not sqlite & postgresql


def test_a_database_that_we_do_not_know_is_refused(project_root: Path) -> None:
    refused = collected(project_root, "oracle")
    assert refused.returncode != 0
    assert "it may be sqlite or postgresql" in refused.stderr
