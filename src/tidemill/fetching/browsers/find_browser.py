"""Find the browser: the one named in the settings, else the usual places of each system."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from tidemill.fetching.browsers.errors import NoBrowser

PROGRAMS = (
    "chromium-headless-shell",
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""Names on the PATH and Debian's own place, the lightest first."""
UNPACKED = Path("build/chromium/chromium")
"""Where `make browser` unpacks npm's @sparticuz/chromium when the system has no package."""
INSTALL = "install one (Debian: apt install chromium-headless-shell), or name it in the setting browser_program"


def find_browser(named: Path | None = None) -> str:
    """Return the Chromium to run: the one named, or the first that is found; raise NoBrowser if there is none."""
    if find_spec("playwright") is None:
        msg = "the browser fetcher needs Playwright: pip install 'tidemill[browser]'"
        raise NoBrowser(msg)
    candidates = PROGRAMS if named is None else (str(named),)
    found = next(filter(None, map(shutil.which, candidates)), None)
    if found is None and named is None and UNPACKED.is_file():
        found = str(UNPACKED.absolute())
    if found is None:
        looked = "no Chromium here" if named is None else f"{str(named)!r} is no program"
        msg = f"{looked}; {INSTALL}"
        raise NoBrowser(msg)
    return found
