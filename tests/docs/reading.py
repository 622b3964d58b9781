"""Documents as the tests here read them: their fenced blocks by name, and the code that they mention."""

import re
from pathlib import Path
from typing import NamedTuple

_FENCED = re.compile(r"^```(\w*)(?: +(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    """A fenced block: ```` ```yaml sources.yaml ````."""

    language: str
    name: str
    text: str


def documents(root: Path) -> list[Path]:
    """Everything that people read, but for what is written from the code itself."""
    generated = root / "docs" / "cli.md"
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "src").rglob("README.md")]
    return sorted(page for page in pages if page != generated)


def blocks(page: Path, language: str = "") -> list[Block]:
    """The fenced blocks of a page, of one language if it is named."""
    found = [Block(*match.groups(default="")) for match in _FENCED.finditer(page.read_text())]
    return [block for block in found if language in {"", block.language}]


def block(page: Path, name: str) -> str:
    """The one block of a page that bears a name."""
    (text,) = [each.text for each in blocks(page) if each.name == name]
    return text


def spans(page: Path) -> list[str]:
    """What stands between backticks in running text."""
    return _SPAN.findall(_FENCED.sub("", page.read_text()))
