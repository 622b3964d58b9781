"""Every address is in the documents, and every documented address exists."""

import re
from pathlib import Path

import pytest

from integration.web.conftest import Browser

pytestmark = pytest.mark.shows("A1")


async def test_the_document_names_exactly_the_addresses_there_are(sqlite_browser: Browser, project_root: Path) -> None:
    described = (await sqlite_browser.get("/api/v1/openapi.json")).json()["paths"]
    page = (project_root / "docs" / "api.md").read_text()
    documented = set(re.findall(r"^\| `(/[^`]+)` \|", page, re.MULTILINE))
    assert documented == {re.sub(r"\{\w+_id\}", "{id}", path).replace(":path", "") for path in described}


async def test_the_document_names_every_parameter(sqlite_browser: Browser, project_root: Path) -> None:
    described = (await sqlite_browser.get("/api/v1/openapi.json")).json()["paths"]
    page = (project_root / "docs" / "api.md").read_text()
    rows: dict[str, str] = {}
    for path, words in re.findall(r"^\| `(/api[^`]+)` \| ([^|]*) \|", page, re.MULTILINE):
        rows[path] = rows.get(path, "") + words
    for path, methods in described.items():
        asked = {each["name"] for each in next(iter(methods.values())).get("parameters", []) if each["in"] == "query"}
        named = set(re.findall(r"`(\w+)`", rows.get(re.sub(r"\{\w+_id\}", "{id}", path), "")))
        assert named == asked, path
