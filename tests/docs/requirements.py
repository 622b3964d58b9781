"""Requirement ids: the rows of docs/requirements.md, the markers of tests, and codes that stand where words should."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

MARKER = "pytest.mark.shows"
WORKS, NOT_YET = "works", "not yet"

ID = re.compile(r"[A-Z]\d{1,2}b?")
_ROW = re.compile(r"^\| *(\w+) *\| *(.+?) *\| *(.+?) *\|$", re.MULTILINE)
_CODE = r"(?:[A-Z]\d{1,2}b?|D-\d+)"
_BRACKETED = re.compile(rf"[(\[]({_CODE}(?:, {_CODE})*)[)\]]")
_BARE = re.compile(rf"(?<![\w%`'\"/.#-]){_CODE}(?![\w`'\"/-])")


class Requirement(NamedTuple):
    """A row of the document; `state` is `works`, `not yet`, or `not yet: ` and what is missing."""

    id: str
    promise: str
    state: str


def requirements_in(document: str) -> list[Requirement]:
    """Return the rows of all tables, in order, without their heads."""
    rows = [Requirement(*row) for row in _ROW.findall(document)]
    return [row for row in rows if row.id != "id"]


def malformed(rows: Sequence[Requirement]) -> list[str]:
    """Return what is wrong with the document itself: an id twice or none, a number left out, a state that is none."""
    ids = [row.id for row in rows]
    return [
        *(f"{each} stands twice" for each, times in Counter(ids).items() if times > 1),
        *(f"{each} is no id" for each in ids if ID.fullmatch(each) is None),
        *(f"{each} comes without {before}" for each in ids if (before := _before(each)) and before not in ids),
        *(f"{row.id}: {row.state!r} is no state" for row in rows if not _is_state(row.state)),
    ]


def _before(each: str) -> str:
    """Return the id that must be there too: `S4` for `S5`, `S2` for `S2b`, nothing for the first."""
    if ID.fullmatch(each) is None or each[1:] == "1":
        return ""
    return each[:-1] if each.endswith("b") else f"{each[0]}{int(each[1:]) - 1}"


def _is_state(state: str) -> bool:
    return state in {WORKS, NOT_YET} or state.startswith(f"{NOT_YET}: ")


def disagreements(rows: Iterable[Requirement], shown: Mapping[str, Iterable[str]]) -> list[str]:
    """Return where the document and the tests contradict each other; `shown` has the ids by test file."""
    files = {each: file for file, ids in shown.items() for each in ids}
    states = {row.id: row.state for row in rows}
    working = [each for each, state in states.items() if state == WORKS]
    absent = [each for each, state in states.items() if state == NOT_YET]
    return [
        *(f"{each} is in {file} and not in the document" for each, file in files.items() if each not in states),
        *(f"{each} works, and no test shows it" for each in working if each not in files),
        *(f"{each} is not yet, but {files[each]} shows it: say what lacks" for each in absent if each in files),
    ]


def shown_in(source: str) -> list[str]:
    """Return the ids that a test file's markers name, in `pytestmark` and on its tests."""
    return [each for mark in _marks(ast.parse(source)) for each in _ids(mark)]


def bad_marks(source: str) -> list[str]:
    """Return the lines of markers that pytest does not read, or that name anything but plain ids."""
    tree = ast.parse(source)
    good = {id(mark.func) for mark in _marks(tree) if mark.args and len(_ids(mark)) == len(mark.args)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node) == MARKER]
    return [f"line {node.lineno}" for node in named if id(node) not in good]


def _marks(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield from _calls(node.decorator_list)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield from _calls(node.value.elts if isinstance(node.value, ast.List) else [node.value])


def _calls(nodes: Iterable[ast.expr]) -> Iterator[ast.Call]:
    yield from (node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == MARKER)


def _ids(mark: ast.Call) -> list[str]:
    values = [argument.value for argument in mark.args if isinstance(argument, ast.Constant)]
    return [value for value in values if isinstance(value, str) and ID.fullmatch(value)]


def codes_in_code(source: str, known: Iterable[str]) -> list[str]:
    """Return the codes in docstrings and comments, with their lines; what is quoted is an example."""
    return [f"line {line}: {code}" for line, words in _prose(source) for code in codes_in_words(words, known)]


def codes_in_words(words: str, known: Iterable[str]) -> list[str]:
    """Return anything like an id in brackets, and known ids and design numbers such as `D-7` anywhere."""
    bracketed = [code for command_group in _BRACKETED.findall(words) for code in command_group.split(", ")]
    bare = [code for code in _BARE.findall(words) if code in known or code.startswith("D-")]
    return list(dict.fromkeys([*bracketed, *bare]))


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Every string that stands for itself, and every comment."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
