"""The API against its own description, asked by each role: no 5xx, and no status that is not described."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from integration.cli.conftest import start

pytestmark = pytest.mark.shows("A1", "A4")

SCOPES = {"anonymous": None, "viewer": "read", "operator": "act", "admin": "admin"}
EXAMPLES = 1
"""Per operation; by hand with `--phases=coverage,fuzzing` and more examples it takes minutes."""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
SETTINGS = "public_readers = false\n"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """`tidemill up` in a process of its own, in the folder."""
    up = start("--database", database(folder), "up", "--port", "0", cwd=folder)
    try:
        assert up.stderr is not None
        yield next(found[0] for line in up.stderr if (found := re.findall(r"http://[\d.:]+(?=\s|$)", line)))
    finally:
        up.terminate()
        up.communicate(timeout=60)


def database(folder: Path) -> str:
    return f"sqlite:///{folder / 'tidemill.db'}"


def token_of(folder: Path, scope: str) -> str:
    made = subprocess.run(
        [sys.executable, "-m", "tidemill", "--database", database(folder), "tokens", "make", "t", "--scope", scope,
         "--json"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return str(json.loads(made.stdout)["secret"])


async def description(address: str, key: str) -> bytes:
    """What the API says of itself, to somebody who may read."""
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session,
        session.get(f"{address}/api/v1/openapi.json") as answer,
    ):
        return await answer.read()


@pytest.mark.parametrize("role", SCOPES)
def test_schemathesis_finds_no_error_and_no_undescribed_status(tmp_path: Path, role: str) -> None:
    (tmp_path / "tidemill.toml").write_text(SETTINGS)
    with served(tmp_path) as address:
        key = token_of(tmp_path, SCOPES[role] or "admin")
        known = [] if SCOPES[role] is None else [f"--header=Authorization: Bearer {key}"]
        described = tmp_path / "openapi.json"
        described.write_bytes(asyncio.run(description(address, key)))
        checked = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "run", str(described), f"--url={address}", f"--checks={CHECKS}",
             f"--max-examples={EXAMPLES}", "--generation-deterministic", "--no-color", "--phases=fuzzing",
             *known],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert checked.returncode == 0, checked.stdout[:6_000]
