"""An item may be named whose page objects stand in other modules of its package; their code counts for its version."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.interop.adapter_table import AdapterTable
from tidemill.interop.foreign_code import FOREIGN_CODE
from tidemill.interop.reading_code import code_digest

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
_numbers = count()
ITEMS = """
from typing import List
import attrs

@attrs.define
class Book:
    name: str

@attrs.define
class Shelf:
    books: List[Book]
"""
PAGES = """
from web_poet import WebPage, field, handle_urls
from .items import Book, Shelf

@handle_urls("books{0}.example")
class BookPage(WebPage[Book]):
    @field
    def name(self):
        return self.css("h1::text").get()

@handle_urls("books{0}.example")
class ShelfPage(WebPage[Shelf]):
    @field
    def books(self):
        return [Book(name=each) for each in self.css("li::text").getall()]
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A package whose items and page objects stand in modules of their own."""
    number = next(_numbers)
    folder = tmp_path / f"poet_books_{number}"
    folder.mkdir()
    for name, text in {"__init__.py": "", "items.py": ITEMS, "pages.py": PAGES.replace("{0}", str(number))}.items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    yield folder
    sys.path.remove(str(tmp_path))


def read(folder: Path, item: str, body: str) -> Found:
    """What the page object of an item finds."""
    name, url = f"poet:{folder.name}.items:{item}", f"https://books{folder.name.rpartition('_')[2]}.example/"
    source = Source(id=1, name="s", vertical="v", base_url=url, adapter_id=name)
    page = Page(
        id=1, url=url, final_url=url, status_code=200, body=body.encode(), charset="utf-8", content_type="text/html",
        digest=0, fetched_at=NOON,
    )  # fmt: skip
    found = AdapterTable({}, FOREIGN_CODE)[name].read(page, Context(source, url, NOON))
    assert isinstance(found, Found), found
    return found


def test_an_item_leads_to_the_page_object_in_another_module(package: Path) -> None:
    assert [each.fields for each in read(package, "Book", "<h1>The Sea</h1>").records] == [
        {"name": "The Sea", "title": "The Sea"}
    ]


def test_the_code_of_the_page_object_counts_for_the_version(package: Path) -> None:
    name = f"poet:{package.name}.items:Book"
    version = AdapterTable({}, FOREIGN_CODE)[name].version
    code_digest.cache_clear()
    pages = package / "pages.py"
    pages.write_text(pages.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert AdapterTable({}, FOREIGN_CODE)[name].version != version


def test_a_list_inside_an_item_is_pointed_at(package: Path) -> None:
    (note,) = read(package, "Shelf", "<li>One</li><li>Two</li>").notes
    assert note.startswith("the item's field books holds 2 things; `items: books`")
