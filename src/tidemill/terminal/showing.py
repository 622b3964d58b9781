"""How answers are shown: tables for people, JSON for machines."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDE = 240
"""Columns when nobody sees the end of a line: in a file or a pipe."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
STYLES = {
    "OPEN": "bold red", "HALF_OPEN": "yellow", "CLOSED": "green", "SUCCESS": "green", "PARTIAL": "yellow",
    "FAILED": "red", "RUNNING": "cyan", "done": "green", "dead": "red", "refused": "yellow", "stale": "yellow",
    "waiting": "cyan", "pending": "red", "resolved": "green", "accepted": "green", "dropped": "yellow",
    "quarantined": "magenta", "ok": "green", "warning": "yellow", "failure": "bold red", "yes": "green", "no": "red",
}  # fmt: skip
"""Words that have a colour wherever they stand alone."""


def console(*, stderr: bool = False) -> Console:
    """Where people read; wide when it is not a screen, so that nothing is cut."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else WIDE)


def emit(value: object) -> None:
    """JSON for machines: stable names, no colours."""
    encoded = msgspec.json.encode(value)
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """A table; what was scraped is shown as text, never as markup."""
    drawn = Table(title=title or None, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in columns:
        drawn.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(cell(value) for value in row))
    console().print(drawn)


def facts(title: str, values: Mapping[str, object]) -> None:
    """Names and values, one per line."""
    drawn = Table(title=title or None, title_justify="left", show_header=False, box=None, pad_edge=False)
    drawn.add_column(style="bold")
    drawn.add_column(overflow="fold")
    for name, value in values.items():
        drawn.add_row(name, cell(value))
    console().print(drawn)


def say(words: str) -> None:
    """A line for a person; scraped words in it are shown as they are, without control characters."""
    console().print(Text(harmless(words)))


def cell(value: object) -> Text:
    """A value as a person reads it."""
    words = shown(value)
    return Text(words, style=STYLES.get(words, ""))


def shown(value: object) -> str:
    """A value in words."""
    if value is None or value == "":
        return "-"
    if isinstance(value, list | tuple):
        return ", ".join(shown(each) for each in value) or "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "-"
    return _plain(value)


def _plain(value: object) -> str:
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
            return harmless(str(value))


def key(value: Any) -> str:
    """A key, which is typed again and so has no commas."""
    return "-" if value is None else str(value)


def harmless(text: str) -> str:
    """Text without the control characters that would steer a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r", "").replace("\t", " "))
