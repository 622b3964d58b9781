"""Writes the folders of `src/tidemill` into CONTRIBUTING.md, each with the first line of its docstring.

`make tree` runs it; a test compares its answer with the file.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/tidemill")
DOCUMENT = Path("CONTRIBUTING.md")
BEGIN = "<!-- tree: written by `make tree` -->"
END = "<!-- /tree -->"
_COLUMN = 22


class NoMarkersError(Exception):
    """The document lacks the two lines between which the tree belongs."""


def main() -> None:
    """Bring CONTRIBUTING.md up to date."""
    document = ROOT / DOCUMENT
    before = document.read_text()
    try:
        after = with_tree(before, tree(ROOT / PACKAGE))
    except NoMarkersError as reason:
        sys.exit(str(reason))
    document.write_text(after)
    print(f"{DOCUMENT} {'is as it was' if after == before else 'is changed'}.")


def with_tree(text: str, lines: list[str]) -> str:
    """Return the document with these lines between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        msg = f"{DOCUMENT} needs a line {BEGIN!r} and, after it, a line {END!r}."
        raise NoMarkersError(msg)
    return "\n".join([before + BEGIN, "```", *lines, "```", END + after])


def tree(package: Path) -> list[str]:
    """Return a line for the package, its modules at the top, and every package below it."""
    modules = sorted(file for file in package.glob("*.py") if not file.name.startswith("__"))
    return [
        f"{package.name}/",
        *(_line(module.name, module, depth=1) for module in modules),
        *_folders(package, depth=1),
    ]


def _folders(package: Path, depth: int) -> Iterator[str]:
    for inside in sorted(package.glob("*/__init__.py")):
        yield _line(f"{inside.parent.name}/", inside, depth)
        yield from _folders(inside.parent, depth + 1)


def _line(name: str, file: Path, depth: int) -> str:
    described = (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0]
    return f"{'  ' * depth + name:<{_COLUMN}} {described}".rstrip()


if __name__ == "__main__":
    main()
