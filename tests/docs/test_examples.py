"""The examples in the documents go through the importer, the readers and the settings that people use."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.reading import block, blocks, documents
from rig.tick_names import tick_names
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.cli.app import run
from tidemill.cli.commands.sql import QUESTIONS
from tidemill.core.checks.retention import DEFAULT_RULES
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Adapter, Context
from tidemill.operations.known_settings import known_adapters
from tidemill.operations.plans import ProblemList, SourcePlan
from tidemill.operations.source_file import read_sources
from tidemill.operations.target_file import read_targets
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.views.runbook import ask, questions_in
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.record import Event
from tidemill.verticals.listings.actions import market_template

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


async def no_targets(_now: datetime) -> int:
    """Lay nothing out: examples are only read."""
    return 0


KNOWN = known_adapters(VERTICALS, [market_template(no_targets)])
NAMED = {"yaml": {"sources.yaml", "settings"}, "toml": {"tidemill.toml"}, "csv": {"targets.csv"}}
"""Every block in these languages bears a name, by which it is tried here; a vertical's README shows settings alone."""


def imported(text: str) -> list[SourcePlan]:
    troubles = ProblemList()
    plans = read_sources(text.encode(), KNOWN, troubles)
    assert troubles.found == []
    assert plans
    return plans


def page_of(markup: str, url: str) -> Page:
    return Page(
        id=1, url=url, final_url=url, status_code=200, body=markup.encode(), charset="utf-8",
        content_type="text/html", digest=1, fetched_at=NOON,
    )  # fmt: skip


def events_on(markup: str, adapter: Adapter, source: Source) -> list[Event]:
    context = Context(source, source.base_url, NOON)
    found = adapter.read(page_of(markup, source.base_url), context)
    assert isinstance(found, Found), found
    verdicts = [EVENTS.judge(record, context) for record in found.records]
    assert all(isinstance(verdict, Accepted) for verdict in verdicts), verdicts
    return [verdict.record for verdict in verdicts if isinstance(verdict, Accepted)]


def told(events: list[Event]) -> list[tuple[str, str, str, str | None]]:
    return [(event.title, event.event_date.isoformat(), event.venue_name, event.detail_url) for event in events]


@pytest.fixture
def verticals_page(project_root: Path) -> Path:
    return project_root / "docs" / "verticals.md"


@pytest.fixture
def operating_page(project_root: Path) -> Path:
    return project_root / "docs" / "operating.md"


def test_every_sources_file_in_the_documents_can_be_imported(project_root: Path) -> None:
    files = [
        each.text for page in documents(project_root) for each in blocks(page, "yaml") if each.name == "sources.yaml"
    ]
    assert len(files) >= 3
    for text in files:
        assert all(plan.targets or plan.source.adapter_settings.get("market_url") for plan in imported(text))


def test_no_example_escapes_these_tests(project_root: Path) -> None:
    strays = [
        f"{page.relative_to(project_root)}: {each.language} {each.name}"
        for page in documents(project_root)
        for each in blocks(page)
        if each.language in NAMED and each.name not in NAMED[each.language]
    ]
    assert strays == []


def test_the_selectors_in_the_document_read_the_page_in_the_document(verticals_page: Path) -> None:
    (plan,) = imported(block(verticals_page, "sources.yaml"))
    adapter = EVENTS.adapters[plan.source.adapter_id]
    assert told(events_on(block(verticals_page, "agenda.html"), adapter, plan.source)) == [
        ("Winterreis", "2026-12-04T20:15:00+01:00", "Grote zaal", "https://www.desluis.example/agenda/winterreis"),
        ("Open podium", "2026-12-09T19:30:00+01:00", "Foyer", "https://www.desluis.example/agenda/open-podium"),
    ]


def test_the_adapter_in_the_document_reads_its_page_and_has_the_shape_of_one(verticals_page: Path) -> None:
    module = ModuleType("waterdrecht")
    exec(compile(block(verticals_page, "waterdrecht.py"), "waterdrecht.py", "exec"), vars(module))  # noqa: S102 - ours
    adapter: Adapter = module.Waterdrecht()
    source = Source(
        id=1, name="w", vertical="events", base_url="https://waterdrecht.example/", adapter_id=adapter.id, city="Edam"
    )
    events = events_on(block(verticals_page, "waterdrecht.html"), adapter, source)
    assert told(events) == [("Lichtjestocht", "2026-11-21T19:00:00+01:00", "Grote Markt", None)]
    assert re.fullmatch(r"events\.\w+ \d+\.\d+\.\d+ False", f"{adapter.id} {adapter.version} {adapter.needs_browser}")
    broken = adapter.read(page_of("<h1>Agenda</h1>", source.base_url), Context(source, source.base_url, NOON))
    assert not isinstance(broken, Found)


@pytest.mark.parametrize(
    ("vertical", "adapter"), [("events", "selectors"), ("prices", "template"), ("listings", "search")]
)
def test_a_verticals_readme_shows_settings_that_a_sources_file_takes(
    project_root: Path, vertical: str, adapter: str
) -> None:
    shown = block(project_root / "src" / "tidemill" / "verticals" / vertical / "README.md", "settings")
    entry = f"- name: a\n  vertical: {vertical}\n  base_url: https://a.example\n  adapter: {vertical}.{adapter}\n"
    (plan,) = imported(entry + "".join(f"  {line}\n" for line in shown.splitlines()))
    assert "selectors" in plan.source.adapter_settings


async def test_the_settings_in_the_document_are_settings(operating_page: Path, tmp_path: Path) -> None:
    file = tmp_path / "tidemill.toml"
    file.write_text(block(operating_page, "tidemill.toml"))
    settings = load_settings(file)
    assert set(settings.ticks) <= set(await tick_names(tmp_path))
    assert set(settings.retention_days) <= set(DEFAULT_RULES)


def test_the_pace_of_a_host_in_the_document_is_one(project_root: Path, tmp_path: Path) -> None:
    file = tmp_path / "tidemill.toml"
    file.write_text(block(project_root / "docs" / "fetching.md", "tidemill.toml"))
    assert load_settings(file).own_paces == {"api.example.org": Pace(timedelta(seconds=0.5), parallel=2)}


def test_the_targets_in_the_document_belong_to_the_source_in_the_document(operating_page: Path) -> None:
    sources = {plan.source.name: plan.source for plan in imported(block(operating_page, "sources.yaml"))}
    troubles = ProblemList()
    plans = read_targets(block(operating_page, "targets.csv").encode(), sources, KNOWN, troubles)
    assert troubles.found == []
    assert [plan.target.url for plan in plans] == [
        "https://www.desluis.example/agenda/muziek",
        "https://www.desluis.example/agenda/jeugd",
    ]


async def test_the_runbooks_questions_have_answers(operating_page: Path, migrated_url: str) -> None:
    (text,) = [each.text for each in blocks(operating_page, "sql")]
    questions = questions_in(text)
    assert [flat(question) for question in questions] == [flat(question) for question in QUESTIONS.values()]
    database = open_database(migrated_url)
    try:
        for question in questions:
            assert (await ask(database, question)).rows == []
    finally:
        await database.close()


def flat(question: str) -> str:
    return " ".join(question.split())


def test_the_commands_of_the_backup_bring_everything_back(
    operating_page: Path, migrated_sqlite_url: str, tmp_path: Path, monkeypatch: Any
) -> None:
    lines = [line for each in blocks(operating_page, "sh") for line in each.text.splitlines()]
    commands = [line.split()[1:] for line in lines if " backup" in line]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMILL_DATABASE", migrated_sqlite_url)
    assert [run(command) for command in commands] == [0, 0]
    assert Path("restored.db").exists()
