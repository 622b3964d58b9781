"""Every alert has its runbook, whose commands run; every happening has its line in the reference."""

import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from tidemill.alerts.happening_table import HAPPENING_ALERTS, reference_rows
from tidemill.cli.app import app
from tidemill.core.alerts.runbooks import SECTIONS, runbook_head
from tidemill.core.alerts.table import RULES, AlertRule
from tidemill.operations.mistakes import Mistake as OperatorMistake
from tidemill.pipeline.happenings import Happening
from tidemill.telemetry.logs import LOG_LINES
from tidemill.telemetry.metrics import Metrics

pytestmark = pytest.mark.shows("H7")

_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PROCEDURES = {"drift", "adapter-re-enable"}
"""What is done for several alerts alike."""
SOURCES = """
sources:
  - name: NAME
    vertical: events
    base_url: https://a.example
    adapter: events.generic
    targets: []
"""


@pytest.fixture
def database(tmp_path: Path, migrated_sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with one source that is called NAME, as runbooks call theirs."""
    file = tmp_path / "sources.yaml"
    file.write_text(SOURCES)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["--database", migrated_sqlite_url, "sources", "import", str(file)])
    assert done.exit_code == 0, done.output
    return migrated_sqlite_url


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.runbook)
def test_a_runbook_begins_with_its_row_of_the_table_and_has_every_section(rule: AlertRule, project_root: Path) -> None:
    text = (project_root / rule.runbook_path).read_text()
    assert text.startswith(runbook_head(rule)), "write its beginning anew with tidemill.core.alerts.runbooks"
    places = [text.index(section) for section in SECTIONS]
    assert places == sorted(places)
    bodies = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    assert all(body.strip() for body in bodies)


def test_there_is_a_runbook_for_every_alert_and_no_other(project_root: Path) -> None:
    found = {path.stem for path in (project_root / "docs" / "runbooks").glob("*.md")}
    assert found == {rule.runbook for rule in RULES} | {"README"} | PROCEDURES
    page = (project_root / "docs" / "runbooks" / "README.md").read_text()
    assert all(f"({name}.md)" in page for name in PROCEDURES)
    for rule in RULES:
        assert f"| [{rule.name.value}]({rule.runbook}.md) | {rule.severity.value} | {rule.condition} |" in page


def test_every_command_that_a_runbook_looks_with_runs(database: str, project_root: Path) -> None:
    pages = sorted((project_root / "docs" / "runbooks").glob("*.md"))
    lines = {
        line for page in pages for block in _BLOCK.findall(page.read_text()) for line in block.splitlines() if line
    }
    assert len(lines) > len(RULES) / 3
    for line in sorted(lines):
        program, *words = shlex.split(line)
        assert program == "tidemill"
        done = CliRunner().invoke(app, ["--database", database, *words])
        assert done.exit_code in {0, 1}, (line, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit), (line, done.exception)


_INLINE = re.compile(r"`(tidemill [^`]+)`")
STANDS_FOR = {"ID": "1", "SOURCE": "NAME", "WORDS": "words", "FILE": "sources.yaml"}
ASKS_OR_STAYS = {"crawl", "fetch", "shell", "sql", "up"}
"""Commands that wait for a person or for a site: they are only looked up."""


def test_every_command_that_a_runbook_names_is_one_that_can_be_typed(database: str, project_root: Path) -> None:
    text = "\n".join(page.read_text() for page in sorted((project_root / "docs" / "runbooks").glob("*.md")))
    named = sorted(set(_INLINE.findall(text)))
    assert len(named) > 20
    for line in named:
        _, *words = [STANDS_FOR.get(word, word.replace(":ID", ":1")) for word in shlex.split(line)]
        asked = ["--help"] if words[0] in ASKS_OR_STAYS else []
        done = CliRunner().invoke(app, ["--database", database, *words, *asked])
        assert "No such command" not in done.output, line
        assert "No such option" not in done.output, line
        assert "Missing argument" not in done.output, line
        assert isinstance(done.exception, SystemExit | OperatorMistake | None), (line, done.exception)


def test_every_happening_has_a_log_line_a_metric_an_alert_or_a_reason_and_a_line_in_the_reference(
    project_root: Path,
) -> None:
    kinds = set(get_args(Happening))
    assert set(HAPPENING_ALERTS) == kinds == set(LOG_LINES)
    assert set(Metrics()._handlers) == kinds
    assert all(bool(led.alerts) != bool(led.reason) for led in HAPPENING_ALERTS.values())
    page = (project_root / "docs" / "alerts.md").read_text()
    rows = reference_rows({kind: line for kind, (line, _) in LOG_LINES.items()})
    assert [row for row in rows if row not in page] == []
