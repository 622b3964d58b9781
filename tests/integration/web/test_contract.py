"""The API against its own description: schemathesis sends what it allows and what it does not, with every check."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integration.cli.conftest import start
from tidemill.bootstrap.system import System

from .conftest import browsing

pytestmark = pytest.mark.shows("A1")

EXAMPLES = 2
"""Per operation and phase, in half a minute; `--max-examples=100` by hand takes ten."""
CONFIGURATION = """
[checks]
positive_data_acceptance.expected-statuses = [200, 201, 202, 401, 403, 404, 409, 422, 429, 503]
"""
"""422 also says that values do not fit each other, or what is known, such as a cursor that leads nowhere."""


def test_every_check_of_schemathesis_passes(tmp_path: Path) -> None:
    """On a process of its own, as `tidemill up` serves it."""
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    place = ["--database", f"sqlite:///{tmp_path / 'tidemill.db'}", "up", "--port", "0"]
    up = start(*place, cwd=tmp_path)
    try:
        assert up.stderr is not None
        address = next(found[0] for line in up.stderr if (found := re.findall(r"http://[\d.:]+", line)))
        checked = subprocess.run(command(address), cwd=tmp_path, capture_output=True, text=True, check=False)
    finally:
        up.terminate()
        up.communicate(timeout=60)
    assert checked.returncode == 0, checked.stdout[:4_000]


def command(address: str) -> list[str]:
    return [
        sys.executable, "-m", "schemathesis.cli", "run", f"{address}/api/v1/openapi.json", "--checks=all",
        f"--max-examples={EXAMPLES}", "--generation-deterministic", "--no-color", "--phases=examples,coverage,fuzzing",
    ]  # fmt: skip


async def test_every_operation_tells_the_limits_it_is_behind(sqlite_system: System) -> None:
    async for browser in browsing(sqlite_system):
        described = json.loads((await browser.get("/api/v1/openapi.json")).body)["paths"]
        for methods in described.values():
            assert all({"413", "421"} <= operation["responses"].keys() for operation in methods.values())


async def test_a_method_that_is_not_allowed_is_told_which_are(sqlite_system: System) -> None:
    async for browser in browsing(sqlite_system):
        async with browser._session.post(f"{browser.address}/api/v1/events") as response:
            assert (response.status, response.headers["Allow"]) == (405, "GET")
