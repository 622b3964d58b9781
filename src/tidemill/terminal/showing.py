"""How results are shown: tables for people, JSON for machines."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 240
"""Columns in a file or a pipe, where lines are not cut by a screen."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
STYLES = {
    "OPEN": "bold red", "HALF_OPEN": "yellow", "CLOSED": "green", "SUCCESS": "green", "PARTIAL": "yellow",
    "FAILED": "red", "RUNNING": "cyan", "done": "green", "dead": "red", "refused": "yellow", "stale": "yellow",
    "waiting": "cyan", "pending": "red", "resolved": "green", "accepted": "green", "dropped": "yellow",
    "quarantined": "magenta", "ok": "green", "warning": "yellow", "failure": "bold red", "yes": "green", "no": "red",
}  # fmt: skip
"""Words that have a colour where they are a whole cell."""


def console(*, stderr: bool = False) -> Console:
    """Return the console for people; wide when it is not a screen, so that nothing is cut."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PIPE_WIDTH)


def print_json(value: object) -> None:
    """Print JSON for machines: stable names, no colours."""
    encoded = msgspec.json.encode(value)
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; scraped text is shown as text, never as markup."""
    rich_table = Table(title=title or None, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in columns:
        rich_table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        rich_table.add_row(*(styled_text(value) for value in row))
    console().print(rich_table)


def print_facts(title: str, values: Mapping[str, object]) -> None:
    """Print names and values, one per line."""
    rich_table = Table(title=title or None, title_justify="left", show_header=False, box=None, pad_edge=False)
    rich_table.add_column(style="bold")
    rich_table.add_column(overflow="fold")
    for name, value in values.items():
        rich_table.add_row(name, styled_text(value))
    console().print(rich_table)


def print_line(words: str) -> None:
    """Print a line for a person; scraped text in it is shown without markup and control characters."""
    console().print(Text(without_control_codes(words)))


def styled_text(value: object) -> Text:
    """Return a value as text with its colour."""
    words = as_text(value)
    return Text(words, style=STYLES.get(words, ""))


def as_text(value: object) -> str:
    """Return a value as a person reads it."""
    if value is None or value == "":
        return "-"
    if isinstance(value, list | tuple):
        return ", ".join(as_text(each) for each in value) or "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "-"
    return _text_of_value(value)


def _text_of_value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case float():
            return f"{value:.2f}"
        case int():
            return f"{value:,}"
        case _:
            return without_control_codes(str(value))


def id_text(value: Any) -> str:
    """Return an id as text without commas, because people type it again."""
    return "-" if value is None else str(value)


def without_control_codes(text: str) -> str:
    """Return the text without the control characters that would steer a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r", "").replace("\t", " "))
