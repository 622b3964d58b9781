"""Every row of the live designs stands in docs/matches.md: shown by a test that names it, or the reason why not."""

from pathlib import Path

import pytest

from docs.inventory import HEADING, InventoryRow, contradictions, inventory_in, marked_in, numbers_in

ROWS = [
    InventoryRow(1, "first", "shown", "`tests/unit/a.py`"),
    InventoryRow(2, "second", "not yet", "nobody has begun"),
]


@pytest.fixture(scope="module")
def page(project_root: Path) -> str:
    return (project_root / "docs" / "matches.md").read_text()


@pytest.fixture(scope="module")
def marked(project_root: Path) -> dict[str, set[int]]:
    files = sorted((project_root / "tests").rglob("test_*.py"))
    return {str(file.relative_to(project_root)): marked_in(file.read_text()) for file in files}


def test_every_row_has_a_state_and_what_is_shown_has_a_test(page: str, marked: dict[str, set[int]]) -> None:
    rows = inventory_in(page)
    assert [row.number for row in rows] == numbers_in(page.partition(HEADING)[2])
    assert len(rows) >= 127
    assert "\n".join(contradictions(rows, marked)) == ""


def test_every_row_of_the_designs_is_there(page: str, shared: Path) -> None:
    seed = shared.parent / "seeds" / "live-inventory.md"
    if not seed.is_file():
        pytest.skip("the inventory of the designs is not beside this checkout (../shared/seeds)")
    assert [row.number for row in inventory_in(page)] == numbers_in(seed.read_text())


def test_a_consistent_inventory_is_accepted() -> None:
    assert contradictions(ROWS, {"tests/unit/a.py": {1}}) == []


@pytest.mark.parametrize(
    ("rows", "marked", "told"),
    [
        (ROWS, {}, "row 1: tests/unit/a.py has no marker for it"),
        (ROWS[1:], {}, "row 1 is missing"),
        ([*ROWS, ROWS[0]], {"tests/unit/a.py": {1}}, "row 1 stands twice"),
        ([ROWS[0]._replace(words="surely")], {}, "row 1 is shown by no test"),
        (ROWS, {"tests/unit/a.py": {1, 3}}, "tests/unit/a.py names row 3, which is not in the inventory"),
        (
            ROWS,
            {"tests/unit/a.py": {1}, "tests/unit/b.py": {2}},
            "row 2 is not yet, and the tests that name it are not told",
        ),
    ],
)
def test_a_contradiction_is_told(rows: list[InventoryRow], marked: dict[str, set[int]], told: str) -> None:
    assert contradictions(rows, marked) == [told]


def test_markers_are_found_on_tests_and_on_modules() -> None:
    source = (
        "pytestmark = [pytest.mark.inventory(1)]\n"
        "@pytest.mark.inventory(2, 3)\nasync def test_a(): ...\n"
        "@pytest.mark.inventory(4)\ndef helps(): ...\n"
    )
    assert marked_in(source) == {1, 2, 3}
