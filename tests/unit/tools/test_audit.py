"""The look at the pinned requirements that needs no network."""

import runpy
from pathlib import Path

import pytest


@pytest.fixture
def audit(project_root: Path):
    return runpy.run_path(str(project_root / "tools" / "audit.py"))


def test_the_requirements_of_this_checkout_are_in_order(audit, project_root):
    assert list(audit["audit"](project_root)) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("aiohttp>=3\n", ["aiohttp>=3 has no exact version"]),
        ("aiohttp==3.13.0\n", ["aiohttp==3.13.0 has no hash"]),
        ("aiohttp==3.13.0 \\\n    --hash=sha256:00\n    # via x\n", []),
    ],
)
def test_a_requirement_without_version_or_hash_is_told(audit, line, problem):
    assert list(audit["unpinned"](line)) == problem


def test_a_version_that_is_known_to_be_bad_is_told(audit):
    known_bad = {"H11": {"mended": "0.16.0", "why": "malformed bodies"}}
    told = list(audit["bad_versions"]({"h11": {"0.9.0"}}, known_bad))
    assert told == ["H11 0.9.0: malformed bodies; mended in 0.16.0"]
    assert not list(audit["bad_versions"]({"h11": {"0.16.0"}}, known_bad))


def test_what_is_installed_is_what_is_pinned(audit):
    assert [line.split()[0] for line in audit["not_as_pinned"]({"pytest": {"0.1"}})] == ["pytest"]
