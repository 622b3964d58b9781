"""What documents say about the code is there: every module they name, and every function they point at."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.reading import documents, spans

MODULE = re.compile(r"[\w./<>-]+\.py")
FOLDER = re.compile(r"[a-z_]+(?:/[a-z_]+)*/")
DOTTED = re.compile(r"tidemill(?:\.[a-z_]\w*)+")
POINTER = re.compile(r"\[((?:`[\w.]+`(?:, | and )?)+)\]\(([^)#\s]+\.py)\)")
PLACES = ("", "src/tidemill", "src/tidemill/verticals/events", "src/tidemill/verticals/listings", "tests")


def is_there(root: Path, page: Path, name: str) -> bool:
    """Whether the path leads to a file, or to a folder that holds one: an empty folder is in nobody else's checkout."""
    paths = [place / name for place in (page.parent, *(root / place for place in PLACES))]
    return any(path.is_file() or any(each.is_file() for each in path.glob("*")) for path in paths)


def is_importable(root: Path, dotted: str) -> bool:
    """Whether the name is a package, a module, or something that one of them defines."""
    file = root / "src" / Path(*dotted.split("."))
    if file.is_dir() or file.with_suffix(".py").is_file():
        return True
    owner = file.parent.with_suffix(".py") if file.parent.with_suffix(".py").is_file() else file.parent / "__init__.py"
    return owner.is_file() and re.search(rf"\b{file.name}\b", owner.read_text()) is not None


def missing(root: Path, page: Path) -> Iterator[str]:
    for span in spans(page):
        if "<" in span:  # a pattern, such as `verticals/<name>/sources/`
            continue
        is_path = MODULE.fullmatch(span) or FOLDER.fullmatch(span)
        is_dotted = DOTTED.fullmatch(span) and not span.endswith(".toml")
        if (is_path and not is_there(root, page, span)) or (is_dotted and not is_importable(root, span)):
            yield span


def defined_in(file: Path) -> set[str]:
    """Names that a module defines at its top, and methods as Class.method."""
    names: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if hasattr(each, "name")}
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def pointers(page: Path) -> Iterator[tuple[str, str]]:
    """Every name that a link to a module promises to be in it."""
    for names, link in POINTER.findall(page.read_text()):
        for name in re.findall(r"`([\w.]+)`", names):
            if not name.endswith(".py"):
                yield name, link


def test_every_module_that_a_document_names_exists(project_root: Path) -> None:
    found = {str(page.relative_to(project_root)): list(missing(project_root, page)) for page in documents(project_root)}
    assert {page: names for page, names in found.items() if names} == {}


def test_every_name_that_a_link_points_at_is_defined_there(project_root: Path) -> None:
    astray = [
        f"{page.relative_to(project_root)}: {name} in {link}"
        for page in documents(project_root)
        for name, link in pointers(page)
        if name not in defined_in((page.parent / link).resolve())
    ]
    assert "\n".join(astray) == ""


def test_the_tour_points_at_every_stage(project_root: Path) -> None:
    tour = (project_root / "docs" / "tour.md").read_text()
    stages = ("dispatch", "fetch", "parse", "normalize", "persist")
    assert [stage for stage in stages if f"pipeline/{stage}.py" not in tour] == []


@pytest.mark.parametrize("span", ["core/nowhere.py", "nowhere/", "tidemill.core.nowhere"])
def test_a_module_that_is_not_there_is_found(project_root: Path, tmp_path: Path, span: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"See `{span}`, `core/breaker.py`, `core/` and `tidemill.core.breaker`.")
    assert list(missing(project_root, page)) == [span]


def test_a_name_that_has_moved_is_found(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("LIMIT: int = 1\nclass Mill:\n    def turn(self): ...\n")
    page = tmp_path / "page.md"
    page.write_text("[`Mill` and `Mill.turn`](code.py), [`LIMIT`](code.py), [`gone`](code.py)")
    assert [name for name, link in pointers(page) if name not in defined_in(tmp_path / link)] == ["gone"]


def test_every_decision_is_in_the_index_under_its_own_title(project_root: Path) -> None:
    folder = project_root / "docs" / "decisions"
    titles = {page.name: page.read_text().splitlines()[0].removeprefix("# ") for page in folder.glob("0*.md")}
    listed = re.findall(r"^\| (\d{4}) \| \[(.+)\]\((\S+)\) \|$", (folder / "README.md").read_text(), re.MULTILINE)
    assert {name: title for _, title, name in listed} == titles
    assert [number for number, _, _ in listed] == sorted(name[:4] for name in titles)  # numbers may be given out early
    assert all(name.startswith(number) for number, _, name in listed)
