"""A release is refused, with its reason, from a checkout that is not ready; nothing is tagged then."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from tools.release import changes, missing_from, refusals

VERSION = "1.2.3"
CHANGELOG = (
    f"# Changelog\n\n## Unreleased\n\n## {VERSION} - 2026-03-01\n\n- Faster.\n\n## 1.2.2\n\n- Slower.\n\n## 1.2.1\n"
)


def git(root: Path, *words: str) -> str:
    author = ["-c", "user.name=Ans", "-c", "user.email=ans@example.org", "-c", "core.hooksPath=none"]
    return subprocess.run(["git", *author, *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(project_root: Path, tmp_path: Path) -> Path:
    """A small project that is ready to be released."""
    (tmp_path / "src/tidemill").mkdir(parents=True)
    (tmp_path / "src/tidemill/__init__.py").write_text(f'"""Small."""\n\n__version__ = "{VERSION}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "tools").mkdir()
    shutil.copy(project_root / "tools/release.py", tmp_path / "tools")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Release")
    return tmp_path


def run(checkout: Path, *words: str) -> str:
    """What the script says when it refuses."""
    command = [sys.executable, "-B", "tools/release.py", *words]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert git(checkout, "tag") == ""
    assert not (checkout / "dist").exists()
    return done.stderr


def test_a_checkout_that_is_ready_is_not_refused(checkout: Path) -> None:
    assert refusals(checkout, VERSION) == []


def test_a_file_that_is_not_committed_is_refused(checkout: Path) -> None:
    (checkout / "new.txt").write_text("new")
    assert "changes that are not committed" in run(checkout, VERSION)


def test_another_branch_is_refused(checkout: Path) -> None:
    git(checkout, "switch", "-q", "-c", "side")
    assert "the branch is side, not main" in run(checkout, VERSION)


@pytest.mark.parametrize("version", ["1.2.4", "1.2.1"])
def test_a_version_that_the_changelog_or_the_package_does_not_have_is_refused(checkout: Path, version: str) -> None:
    told = run(checkout, version)
    assert f"CHANGELOG.md has no section '## {version}'" in told
    assert f"says {VERSION}, not {version}" in told


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.3", "1.2.3rc1", "01.2.3", "latest"])
def test_what_is_no_version_is_refused(checkout: Path, version: str) -> None:
    assert "is not a version such as 1.2.3" in run(checkout, version)


def test_a_version_that_was_released_is_refused(checkout: Path) -> None:
    git(checkout, "tag", f"v{VERSION}")
    assert refusals(checkout, VERSION) == [f"the tag v{VERSION} exists already"]


def test_all_reasons_are_told_at_once(checkout: Path) -> None:
    git(checkout, "switch", "-q", "-c", "side")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n")
    assert len(refusals(checkout, "2.0.0")) == 4


def test_a_check_that_fails_ends_the_release_without_a_tag(checkout: Path) -> None:
    (checkout / "Makefile").write_text("check:\n\t@exit 1\n")
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "Break the check")
    assert "make check failed" in run(checkout, VERSION)


def test_the_tag_gets_what_the_changelog_says_of_the_version_alone(checkout: Path) -> None:
    assert changes(checkout, VERSION) == "- Faster."
    assert changes(checkout, "1.2.2") == "- Slower."
    assert changes(checkout, "1.2.1") == ""


def test_a_wheel_that_lacks_a_file_is_found(tmp_path: Path) -> None:
    wheel = tmp_path / "tidemill-1.2.3-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("tidemill/__init__.py", "")
    tracked = ["src/tidemill/__init__.py", "src/tidemill/web/templates/base.html"]
    assert missing_from(wheel, tracked) == ["src/tidemill/web/templates/base.html"]


def test_the_document_names_every_reason_to_refuse(project_root: Path) -> None:
    page = (project_root / "RELEASING.md").read_text()
    assert re.search(r"not `main`.*not committed.*tag exists.*another version.*changelog has nothing", page, re.DOTALL)
