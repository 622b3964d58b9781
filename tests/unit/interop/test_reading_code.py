"""The digest of the code that reads changes with every module that it imports within its package, and with no other."""

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tidemill.interop import reading_code
from tidemill.interop.reading_code import code_digest

pytestmark = pytest.mark.shows("X1")
_numbers = count()
FILES = {
    "__init__.py": "",
    "spiders/__init__.py": "",
    "spiders/books.py": "from ..items import (\n    BookItem,\n)\nfrom {name} import words\n",
    "items.py": "import json\nfrom .loaders import clean\nBookItem = 1\n",
    "loaders.py": "clean = 1\n",
    "words.py": "table = 'words.csv'\n",
    "words.csv": "a,b\n",
    "pipelines.py": "nobody = 'imports this'\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A package of several modules, under a name of its own."""
    folder = tmp_path / f"shop_code_{next(_numbers)}"
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{name}", folder.name), encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    yield folder
    sys.path.remove(str(tmp_path))


def digest_of(folder: Path) -> str:
    """The digest that a new process would find."""
    for each in (code_digest, reading_code._source, reading_code._roots):
        each.cache_clear()
    return code_digest(f"{folder.name}.spiders.books")


@pytest.mark.parametrize("name", ["spiders/books.py", "items.py", "loaders.py", "words.py", "words.csv"])
def test_every_file_that_reading_uses_counts(package: Path, name: str) -> None:
    before = digest_of(package)
    assert digest_of(package) == before
    file = package / name
    file.write_text(file.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert digest_of(package) != before


def test_what_is_not_imported_does_not_count_and_nothing_is_imported_for_it(package: Path) -> None:
    before = digest_of(package)
    (package / "pipelines.py").write_text("raise SystemExit\n", encoding="utf-8")
    assert digest_of(package) == before
    assert not [name for name in sys.modules if name.startswith(package.name)]


def test_what_has_no_source_has_no_digest() -> None:
    assert code_digest("no_such_package.module") == ""
    assert code_digest("sys") == ""
