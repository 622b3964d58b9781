"""What works is shown by a test, what tests show is promised, and code explains itself without ids."""

from pathlib import Path

import pytest

from docs.reading import documents
from docs.requirements import (
    Requirement,
    bad_marks,
    codes_in_code,
    codes_in_words,
    disagreements,
    malformed,
    requirements_in,
    shown_in,
)

PROMISES = [Requirement("F1", "Pages.", "works"), Requirement("F2", "Browsers.", "not yet: no browser")]
KNOWN = {"F1", "F2"}


@pytest.fixture(scope="module")
def rows(project_root: Path) -> list[Requirement]:
    return requirements_in((project_root / "docs" / "requirements.md").read_text())


def python_in(root: Path, folder: str) -> dict[str, str]:
    return {str(file.relative_to(root)): file.read_text() for file in sorted((root / folder).rglob("*.py"))}


def test_each_promise_stands_once_with_its_state(rows: list[Requirement]) -> None:
    assert len(rows) > 100
    assert malformed(rows) == []


def test_what_works_is_shown_by_a_test_and_what_tests_show_is_promised(
    rows: list[Requirement], project_root: Path
) -> None:
    shown = {name: shown_in(text) for name, text in python_in(project_root, "tests").items()}
    assert "\n".join(disagreements(rows, shown)) == ""


def test_every_marker_is_one_that_pytest_reads(project_root: Path) -> None:
    found = {name: bad_marks(text) for name, text in python_in(project_root, "tests").items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("folder", ["src", "benchmarks", "tests"])
def test_code_explains_itself_without_ids(rows: list[Requirement], project_root: Path, folder: str) -> None:
    known = {row.id for row in rows}
    found = {name: codes_in_code(text, known) for name, text in python_in(project_root, folder).items()}
    assert {name: codes for name, codes in found.items() if codes} == {}


def test_no_template_or_readme_beside_the_code_names_an_id(rows: list[Requirement], project_root: Path) -> None:
    known = {".html": set(), ".css": set(), ".js": set(), ".md": {row.id for row in rows}}
    beside = [file for file in (project_root / "src").rglob("*") if file.suffix in known]
    found = {str(file): codes_in_words(file.read_text(), known[file.suffix]) for file in beside}
    assert beside
    assert {name: codes for name, codes in found.items() if codes} == {}


def test_documents_name_only_ids_that_have_a_key(rows: list[Requirement], project_root: Path) -> None:
    known = {row.id for row in rows}
    found = {str(page): set(codes_in_words(page.read_text(), known)) - known for page in documents(project_root)}
    assert {name: codes for name, codes in found.items() if codes} == {}


def test_a_table_is_read_row_by_row() -> None:
    head = "| id | promise | state |\n| --- | --- | --- |\n"
    table = head + "| F1 | Pages. | works |\n| F2 | Browsers. | not yet: no browser |\n"
    assert requirements_in(table) == PROMISES


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (PROMISES[0], "F1 stands twice"),
        (Requirement("F4", "", "works"), "F4 comes without F3"),
        (Requirement("F3b", "", "works"), "F3b comes without F3"),
        (Requirement("FX", "", "works"), "FX is no id"),
        (Requirement("F3", "", "perhaps"), "F3: 'perhaps' is no state"),
    ],
)
def test_a_wrong_row_is_found(row: Requirement, wrong: str) -> None:
    assert malformed(PROMISES) == []
    assert malformed([*PROMISES, row]) == [wrong]


def test_an_id_without_a_test_a_test_without_a_promise_and_a_promise_undersold_are_found() -> None:
    assert disagreements(PROMISES, {"a.py": ["F1", "F2"]}) == []
    assert disagreements(PROMISES, {}) == ["F1 works, and no test shows it"]
    assert disagreements(PROMISES, {"a.py": ["F1", "F9"]}) == ["F9 is in a.py and not in the document"]
    missing = [*PROMISES, Requirement("F3", "", "not yet")]
    assert disagreements(missing, {"a.py": ["F1", "F3"]}) == ["F3 is not yet, but a.py shows it: say what lacks"]


def test_markers_are_read_on_modules_and_on_tests() -> None:
    text = (
        'pytestmark = [pytest.mark.shows("F1", "S2b"), pytest.mark.slow]\n'
        '@pytest.mark.shows("F2")\nasync def test_one(): ...\n'
        '@pytest.mark.slow\n@pytest.mark.shows("F3")\ndef test_two(): ...\n'
    )
    assert sorted(shown_in(text)) == ["F1", "F2", "F3", "S2b"]
    assert bad_marks(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '@pytest.mark.shows("F1")\ndef helper(): ...',
        "@pytest.mark.shows()\ndef test_one(): ...",
        "@pytest.mark.shows\ndef test_one(): ...",
        "@pytest.mark.shows(WHICH)\ndef test_one(): ...",
        '@pytest.mark.shows("F1", "nonsense")\ndef test_one(): ...',
        'other = pytest.mark.shows("F1")',
    ],
)
def test_a_marker_that_nobody_reads_is_found(text: str) -> None:
    assert bad_marks(text) == ["line 1"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('"""Saves pages (F7)."""', ["line 1: F7"]),
        ("def save():\n    '''Save (L3, D-8).'''", ["line 2: L3", "line 2: D-8"]),
        ("x = 1  # the limit of F2", ["line 1: F2"]),
        ("x = 1\n'''As D-7 wants it.'''", ["line 2: D-7"]),
    ],
)
def test_an_id_in_a_docstring_or_a_comment_is_found(text: str, codes: list[str]) -> None:
    assert codes_in_code(text, KNOWN) == codes


@pytest.mark.parametrize(
    "text",
    [
        '"""A name such as `F1`, or \'F2\'."""',
        "x = y  # noqa: S608, N801 -- RFC 9309, UTF-8",
        'x = "a string of the program (F1)"',
        '"""The address `/caf%C3%A9`, F100, an HTTP/2 server and F1-score."""',
    ],
)
def test_what_only_looks_like_an_id_is_left_alone(text: str) -> None:
    assert codes_in_code(text, {*KNOWN, "C3", "A9"}) == []
