"""The inventory of the live designs: its rows in docs/matches.md, and the markers of tests that name them."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

MARKER = "pytest.mark.inventory"
HEADING = "## The inventory"

_ROW = re.compile(r"^\| *(\d+) *\| *(.+?) *\| *(shown|otherwise|not yet): *(.+?) *\|$", re.MULTILINE)
_NUMBERED = re.compile(r"^\| *(\d+) *\|", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)`")


class InventoryRow(NamedTuple):
    """A row of the document: `shown` names the files of its tests, the others say why."""

    number: int
    item: str
    state: str
    words: str

    @property
    def tests(self) -> list[str]:
        """The test files that the row names."""
        return _TEST.findall(self.words)


def numbers_in(document: str) -> list[int]:
    """Return the number of every numbered row of a document's tables."""
    return [int(number) for number in _NUMBERED.findall(document)]


def inventory_in(document: str) -> list[InventoryRow]:
    """Return the rows of the inventory; rows without one of the three states are left out."""
    _, _, part = document.partition(HEADING)
    return [InventoryRow(int(number), *rest) for number, *rest in _ROW.findall(part)]


def marked_in(source: str) -> set[int]:
    """Return the rows that a test file's markers name, in `pytestmark` and on its tests."""
    return {number for mark in _marks(ast.parse(source)) for number in _numbers(mark)}


def contradictions(rows: Sequence[InventoryRow], marked: Mapping[str, set[int]]) -> list[str]:
    """Return where the inventory contradicts itself or the tests; `marked` has the rows by test file."""
    numbers = [row.number for row in rows]
    return [
        *(f"row {number} stands twice" for number, times in Counter(numbers).items() if times > 1),
        *(f"row {number} is missing" for number in range(1, max(numbers, default=0) + 1) if number not in numbers),
        *(f"row {row.number} is shown by no test" for row in rows if row.state == "shown" and not row.tests),
        *(
            f"row {row.number}: {file} has no marker for it"
            for row in rows
            for file in row.tests
            if row.number not in marked.get(file, set())
        ),
        *(
            f"{file} names row {number}, which is not in the inventory"
            for file, found in marked.items()
            for number in sorted(found - set(numbers))
        ),
        *(
            f"row {row.number} is {row.state}, and the tests that name it are not told"
            for row in rows
            if not row.tests and any(row.number in found for found in marked.values())
        ),
    ]


def _marks(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield from _calls(node.decorator_list)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield from _calls(node.value.elts if isinstance(node.value, ast.List) else [node.value])


def _calls(nodes: Sequence[ast.expr]) -> Iterator[ast.Call]:
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == MARKER:
            yield node


def _numbers(mark: ast.Call) -> Iterator[int]:
    for argument in mark.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, int):
            yield argument.value
