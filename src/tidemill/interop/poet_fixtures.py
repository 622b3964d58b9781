"""Fixtures of web-poet: saved inputs of a page object with the item it must make of them."""

from pathlib import Path
from typing import Any

from web_poet.page_inputs import HttpResponse
from web_poet.testing import Fixture

from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.interop.coroutines import run_to_end
from tidemill.interop.import_paths import ImportPath, import_class
from tidemill.interop.page_objects import build_page, page_class

LONGEST_WORDS = 300


def poet_fixtures(folder: Path) -> list[tuple[str, Path]]:
    """Return the fixtures below a folder, each with the full name of its page object: `NAME/CASE/inputs`."""
    cases = sorted(each.parent for each in folder.glob("**/inputs") if Fixture(each.parent).is_valid())
    return [(case.parent.name, case) for case in cases]


def fixture_differences(cls: type[Any], case: Path) -> list[str]:
    """Return how the page object reads a fixture differently from what is saved, field by field, in words."""
    fixture = Fixture(case)
    if fixture.exception_path.is_file():
        return _attempt(lambda: fixture.assert_toitem_exception(cls))
    if trouble := _attempt(lambda: fixture.assert_no_toitem_exceptions(cls)):
        return trouble
    found = []
    for name in fixture.get_expected_output():
        found += [f"{name}: {words}" for words in _attempt(lambda name=name: fixture.assert_field_correct(name, cls))]
    return found + _attempt(lambda: fixture.assert_no_extra_fields(cls))


def _attempt(check: Any) -> list[str]:
    try:
        check()
    except Exception as error:  # noqa: BLE001 - whatever somebody's page object raises is a difference
        return [f"{type(error).__name__}: {error}"[:LONGEST_WORDS]]
    return []


def class_of(full_name: str) -> type[Any]:
    """Return the page object of a fixture by its full name, `package.module.Class`."""
    module, _, name = full_name.rpartition(".")
    return import_class(ImportPath("poet", module, name))


def save_poet_fixture(named: type[Any], page: Page, folder: Path, name: str) -> Path:
    """Save the page as a fixture of its page object, with the item that is made of it now; answers its folder."""
    source = Source(id=0, name="fixture", vertical="", base_url=page.url, adapter_id="")
    cls = page_class(named, page.final_url)
    item = run_to_end(build_page(cls, page, Context(source, page.final_url, page.fetched_at)).to_item())
    headers = {"Content-Type": page.content_type} if page.content_type else {}
    response = HttpResponse(page.final_url, page.body, status=page.status_code, headers=headers)
    base = folder / f"{cls.__module__}.{cls.__qualname__}"
    base.mkdir(parents=True, exist_ok=True)
    meta = {"frozen_time": page.fetched_at.isoformat()}
    return Fixture.save(base, inputs=[response], item=item, meta=meta, fixture_name=name).path
