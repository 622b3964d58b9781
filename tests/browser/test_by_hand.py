"""`tidemill fetch` on a page that needs a browser: what each gate said, and the page as its scripts have made it."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rig.aside import aside
from tidemill.cli.app import run
from tidemill.lab.scripted import ScriptedSite


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with aside(lambda: ScriptedSite(3)) as serving:
        yield serving


@pytest.fixture
def place(tmp_path: Path, chromium: str, site: ScriptedSite) -> list[str]:
    """A database with one source of that site, which says nothing of a browser."""
    settings, sources = tmp_path / "settings.toml", tmp_path / "sources.yaml"
    settings.write_text(f'allow_networks = ["127.0.0.0/8"]\nbrowser_program = "{chromium}"\n')
    sources.write_text(
        f"- {{name: scripted, vertical: events, base_url: '{site.origin}', adapter: events.generic, "
        f"pace: {{interval_seconds: 0.1}}, settings: {{wait_for: '#agenda article'}}, targets: [/agenda/1]}}"
    )
    words = ["--settings", str(settings), "--database", f"sqlite:///{tmp_path / 'tidemill.db'}"]
    assert said([*words, "migrate"])[0] == 0
    assert said([*words, "sources", "import", str(sources)])[0] == 0
    return words


def said(words: list[str]) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run(words)
    return code, out.buffer.getvalue().decode()


def fetched(place: list[str], *words: str) -> Any:
    code, out = said([*place, "fetch", *words, "--json"])
    assert code == 0, out
    return json.loads(out)


def test_a_page_is_got_in_a_browser_when_asked_and_its_own_requests_are_told(
    place: list[str], site: ScriptedSite, tmp_path: Path
) -> None:
    url = f"{site.origin}/agenda/1"
    assert fetched(place, url)["fetcher"] == "http"  # its robots.txt is kept, and not asked for again
    got = fetched(place, url, "--browser", "--output", str(tmp_path / "page.html"))
    assert (got["fetcher"], got["status"], got["requests"]) == ("browser", "ok", 3)
    assert "Concert nummer 1" in (tmp_path / "page.html").read_text("utf-8")
    assert any("made 2 requests of its own" in one["words"] for one in got["gates"] if one["gate"] == "pace")


@pytest.mark.inventory(99)
def test_a_source_that_uses_a_browser_is_fetched_with_one(place: list[str], site: ScriptedSite) -> None:
    url = f"{site.origin}/agenda/1"
    sources = Path(place[1]).with_name("sources.yaml")
    sources.write_text(sources.read_text().replace("name: scripted,", "name: scripted, fetcher: browser,"))
    assert said([*place, "sources", "import", str(sources)])[0] == 0
    assert fetched(place, url)["fetcher"] == "browser"


def test_without_a_database_there_is_no_browser(tmp_path: Path) -> None:
    words = ["--settings", str(tmp_path / "none.toml"), "--database", f"sqlite:///{tmp_path / 'none.db'}"]
    (tmp_path / "none.toml").write_text("")
    assert said([*words, "fetch", "https://a.example/", "--browser"])[0] == 2
