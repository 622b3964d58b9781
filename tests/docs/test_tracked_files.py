"""What we publish names no machine it was made on and no host it was installed from."""

import re
import subprocess
from pathlib import Path

import pytest

FORBIDDEN = {
    "a path on someone's machine": re.compile(r"(?<![\w.\-/])/(?:work|root|Users)/[\w.]"),
    "a package host": re.compile(r"files\.pythonhosted\.org|pypi\.org/simple|registry\.npmjs\.org"),
    "a package index option": re.compile(r"^--(?:(?:extra-)?index-url|find-links)", re.MULTILINE),
    "an unfinished mark": re.compile(r"\b(?:TO(?:DO)|FIX(?:ME))\b"),
}


@pytest.fixture(scope="session")
def tracked(project_root: Path) -> list[Path]:
    """Every file under version control; an unpacked release has none to list."""
    if not (project_root / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=project_root, capture_output=True, text=True, check=True)
    paths = [project_root / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def faults_in(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if pattern.search(text)]


def test_no_tracked_file_names_a_machine_or_a_package_host(tracked: list[Path], project_root: Path) -> None:
    found = {str(path.relative_to(project_root)): faults_in(path.read_text(errors="replace")) for path in tracked}
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "broken_up",  # with dots, so that this file itself passes
    ["see /wo·rk/notes.txt", "/ro·ot/.cache", "files.python·hosted.org", "--index-·url somewhere", "# TO·DO later"],
)
def test_a_forbidden_mention_is_found(broken_up: str) -> None:
    assert not faults_in(broken_up)
    assert faults_in(broken_up.replace("·", ""))


def test_the_lock_files_hold_no_address(project_root: Path) -> None:
    locks = list((project_root / "requirements").glob("*.txt"))
    assert locks
    assert [lock.name for lock in locks if "://" in lock.read_text()] == []


def test_every_locked_requirement_carries_a_hash(project_root: Path) -> None:
    for lock in (project_root / "requirements").glob("*.txt"):
        entries = re.split(r"\n(?=\S)", lock.read_text().strip())
        assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
