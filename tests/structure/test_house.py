"""The house stays tidy: no crowded folder, no class name twice, no vertical's name in generic code."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidemill.bootstrap.plugins import OWN

MOST_MODULES = 25
SHARED_BY_SHAPE = {"Reason"}
"""Class names that several verticals have because they have the same shape."""
MAY_NAME_VERTICALS = {"bootstrap/plugins.py"}


@pytest.fixture(scope="module")
def modules(project_root: Path) -> dict[str, ast.Module]:
    root = project_root / "src" / "tidemill"
    files = (file for file in root.rglob("*.py") if "migrations" not in file.parts)
    return {str(file.relative_to(root)): ast.parse(file.read_text()) for file in files}


def test_no_folder_holds_more_than_25_modules(modules: dict[str, ast.Module]) -> None:
    sizes = Counter(path.rpartition("/")[0] for path in modules if not path.endswith("__init__.py"))
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_no_class_name_stands_in_two_modules(modules: dict[str, ast.Module]) -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if not is_shared_by_shape(name, paths)} == {}


def is_shared_by_shape(name: str, paths: list[str]) -> bool:
    return name in SHARED_BY_SHAPE and all(path.startswith("verticals/") for path in paths)


def test_generic_code_names_no_vertical(modules: dict[str, ast.Module]) -> None:
    names = {plugin.name for plugin in OWN}
    named = [
        f"{path}:{line}: {value!r}"
        for path, tree in modules.items()
        if not path.startswith("verticals/") and path not in MAY_NAME_VERTICALS
        for line, value in strings(tree)
        if value in names or value.partition(".")[0] in names
    ]
    assert named == []


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_the_verticals_are_listed_in_one_place(modules: dict[str, ast.Module]) -> None:
    importers = {
        path
        for path, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tidemill.verticals")
        if not path.startswith("verticals/")
    }
    assert importers == MAY_NAME_VERTICALS


@pytest.mark.parametrize("name", [plugin.name for plugin in OWN])
def test_every_vertical_has_the_same_shape(project_root: Path, name: str) -> None:
    folder = project_root / "src" / "tidemill" / "verticals" / name
    files = ("__init__.py", "README.md", "record.py", "rules.py", "policy.py", "definition.py", "parts.py", "web.py")
    folders = ("reading", "sources", "store", "commands", "lab")
    assert [each for each in files if not (folder / each).is_file()] == []
    assert [each for each in folders if not (folder / each / "__init__.py").is_file()] == []
