"""Every command that a document tells people to type exists, with its options."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.reading import blocks, documents, spans
from rig.tick_names import tick_names
from tidemill.cli.app import COMMANDS, load
from tidemill.core.failure import Failure
from tidemill.settings import Settings

TYPED = re.compile(r"(?:\.venv/bin/)?tidemill +(.+)")


def typed(page: Path) -> Iterator[str]:
    """What people are told to type after `tidemill`."""
    lines = [line for block in blocks(page, "sh") for line in block.text.splitlines()]
    shown = [line for block in blocks(page, "console") for line in block.text.splitlines()]
    for text in [*spans(page), *lines, *(line.removeprefix("$ ") for line in shown if line.startswith("$ "))]:
        if match := TYPED.fullmatch(text.strip()):
            yield match[1]


def trouble_with(line: str) -> str:
    """Why the line cannot be typed; '' if it can."""
    words = shlex.split(line, comments=True)
    if words[0].startswith("-"):
        return ""
    if words[0] not in COMMANDS:
        return f"no command {words[0]!r}"
    command: Any = load(words[0])
    words = words[1:]
    below = getattr(command, "commands", {})
    if below and words:
        if words[0] not in below:
            return f"no {words[0]!r} under {command.name!r}"
        command, words = below[words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    strange = [word for word in words if re.match(r"--?[a-z]", word) and word not in known | {"--help", "-h"}]
    return f"no option {strange[0]!r}" if strange else ""


def test_every_command_that_a_document_names_can_be_typed(project_root: Path) -> None:
    wrong = {
        f"{page.relative_to(project_root)}: tidemill {line}": trouble
        for page in documents(project_root)
        for line in typed(page)
        if (trouble := trouble_with(line))
    }
    assert wrong == {}


@pytest.mark.parametrize("line", ["upp", "dlq burn 3", "doctor --loudly"])
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    assert trouble_with(line)


def test_the_runbook_names_only_failures_that_exist(project_root: Path) -> None:
    lines = re.compile(r"^\| (?:dead letters|\.\.\.|jobs `refused`) with (.+?) \|", re.MULTILINE)
    rows = lines.findall(operating(project_root))
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named
    assert named - {failure.value for failure in Failure} == set()


async def test_the_runbook_speaks_of_settings_and_ticks_that_exist(project_root: Path, tmp_path: Path) -> None:
    text = operating(project_root)
    for setting in ("user_agent", "retention_days", "lease_seconds", "allow_networks", "max_pending"):
        assert f"`{setting}`" in text
        assert setting in Settings.model_fields
    assert "maintenance" in await tick_names(tmp_path)


def test_what_the_runbook_switches_on_are_settings_and_extras(project_root: Path) -> None:
    text = operating(project_root)
    extras, settings = (text.partition(head)[2].partition("\n\n")[0] for head in ("| extra |", "| set | to have |"))
    named = {
        name
        for styled_text in re.findall(r"^\| (`.+?) \|", settings, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", styled_text)
    }
    assert len(named) > 10
    assert named - set(Settings.model_fields) == set()
    known = tomllib.loads((project_root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"^\| `([\w-]+)`", extras, re.MULTILINE)) == set(known)


def operating(root: Path) -> str:
    return (root / "docs" / "operating.md").read_text()
