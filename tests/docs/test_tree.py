"""The tree in CONTRIBUTING.md is the one that the code has; `make tree` writes it anew."""

from pathlib import Path

import pytest
from tools.tree import BEGIN, DOCUMENT, END, PACKAGE, NoMarkersError, tree, with_tree


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a package in it, a module and a folder of templates."""
    for folder in ("mill", "mill/wheel", "mill/templates"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mill/__init__.py").write_text('"""Grinds."""\n')
    (tmp_path / "mill/settings.py").write_text('"""What can be set.\n\nAnd more."""\n')
    (tmp_path / "mill/wheel/__init__.py").write_text('"""Turns."""\n')
    return tmp_path / "mill"


def test_the_tree_in_contributing_is_up_to_date(project_root: Path) -> None:
    text = (project_root / DOCUMENT).read_text()
    assert with_tree(text, tree(project_root / PACKAGE)) == text, "run `make tree`"


def test_every_package_says_in_a_line_what_it_holds(project_root: Path) -> None:
    assert [line for line in tree(project_root / PACKAGE)[1:] if len(line.split()) < 2] == []


def test_a_package_is_told_by_its_first_line_and_a_folder_without_code_is_left_out(package: Path) -> None:
    assert [line.split(maxsplit=1) for line in tree(package)] == [
        ["mill/"],
        ["settings.py", "What can be set."],
        ["wheel/", "Turns."],
    ]


def test_a_new_package_makes_the_document_out_of_date(package: Path) -> None:
    text = with_tree(f"Before\n{BEGIN}\n{END}\nafter\n", tree(package))
    assert with_tree(text, tree(package)) == text
    (package / "stone").mkdir()
    (package / "stone/__init__.py").write_text('"""Lies still."""\n')
    assert with_tree(text, tree(package)) != text


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(NoMarkersError, match="needs a line"):
        with_tree("nothing here", [])
