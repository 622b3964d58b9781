"""What the tests in a real browser need: the browser."""

import os

import pytest

from tidemill.fetching.browsers.errors import NoBrowser
from tidemill.fetching.browsers.find_browser import find_browser

ENVIRONMENT = os.environ  # noqa: TID251 -- tests have no settings module; only this line reads the environment


@pytest.fixture(scope="session")
def chromium() -> str:
    """The program; a laptop may do without, CI may not."""
    try:
        return find_browser()
    except NoBrowser as missing:
        if ENVIRONMENT.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(str(missing))
        pytest.skip(f"{missing}; or `make browser`")
