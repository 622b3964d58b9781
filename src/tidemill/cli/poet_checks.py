"""Fixtures of page objects in `tidemill check` and `tidemill savefixture`."""

from pathlib import Path
from typing import NoReturn

from tidemill.core.page import Page
from tidemill.interop.import_paths import UnusableCode, import_class, parse_import_path
from tidemill.operations.golden import CheckedCase
from tidemill.operations.mistakes import Mistake

SCHEME = frozenset({"poet"})
FOLDER = Path("fixtures")
"""Where web-poet's own tests look for them."""


def is_page_object(adapter: str) -> bool:
    """Return whether an adapter's name is that of a page object."""
    return adapter.startswith("poet:")


def checked_fixtures(folder: Path) -> list[CheckedCase]:
    """Return the result of every fixture of web-poet below a folder; none if it holds none."""
    if next(folder.glob("**/inputs"), None) is None:
        return []
    try:
        from tidemill.interop.poet_fixtures import class_of, fixture_differences, poet_fixtures  # noqa: PLC0415
    except ImportError as error:
        _say_extra(error)
    done = []
    for name, case in poet_fixtures(folder):
        try:
            differences = tuple(fixture_differences(class_of(name), case))
        except UnusableCode as error:
            differences = (str(error),)
        done.append(CheckedCase(adapter=name, case=case.name, differences=differences))
    return done


def save_fixture(adapter: str, page: Page, name: str, folder: Path = FOLDER) -> Path:
    """Save a page as a fixture of a page object; answers where."""
    try:
        from tidemill.interop.poet_fixtures import save_poet_fixture  # noqa: PLC0415 - an extra
    except ImportError as error:
        _say_extra(error)
    try:
        path = parse_import_path(adapter, SCHEME)
        if path is None:
            msg = f"{adapter!r} is no page object; write poet:package.module:ClassName"
            raise Mistake(msg)
        return save_poet_fixture(import_class(path), page, folder, name)
    except UnusableCode as error:
        raise Mistake(str(error)) from error
    except FileExistsError as error:
        msg = f"there is a fixture {name!r} already; choose another --name, or remove it"
        raise Mistake(msg) from error


def _say_extra(error: ImportError) -> NoReturn:
    msg = f"fixtures of page objects need the extra web-poet: pip install 'tidemill[web-poet]' ({error})"
    raise Mistake(msg) from error
