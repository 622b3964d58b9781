"""A project of Scrapy as entries of a sources file: its spiders, where they begin, and the settings that matter."""

import configparser
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from scrapy import Spider
from scrapy.settings import Settings

from tidemill.core.urls import BadUrl, registrable_domain
from tidemill.interop.coroutines import MustWait
from tidemill.interop.import_paths import UnusableCode
from tidemill.interop.spider_requests import HARMLESS, Unfollowed, address_of, headers_of
from tidemill.interop.spiders import make_spider, start_requests_of

MOST_PAGES = 1_000
LONGEST_DELAY = 60.0
_WORDS = re.compile(r"[^a-z0-9]+")

LEFT_OUT = {
    "ITEM_PIPELINES": "pipelines do not run: Tidemill judges, stores and notifies by itself",
    "DOWNLOADER_MIDDLEWARES": "downloader middlewares do not run",
    "SPIDER_MIDDLEWARES": "spider middlewares do not run",
    "EXTENSIONS": "extensions do not run",
    "FEEDS": "feeds are not written; `tidemill export` writes records",
    "USER_AGENT": "Tidemill says who it is by its own settings",
    "DOWNLOAD_HANDLERS": "download handlers do not run; `fetcher: browser` fetches with a browser",
}
"""Settings of Scrapy that have no meaning here, and what stands in their place."""


class SpiderEntry(NamedTuple):
    """A spider as an entry of a sources file, and what was left out of it."""

    entry: Mapping[str, Any]
    left_out: tuple[str, ...]


def entries_of(project: Path, vertical: str) -> list[SpiderEntry]:
    """Return an entry for each spider of a project.

    Raises:
        UnusableCode: there is no project, or it cannot be imported.
    """
    settings = _project_settings(project)
    found = [_entry(spider, settings, vertical) for spider in _spiders(settings)]
    if not found:
        msg = f"there is no spider in the modules {settings.getlist('SPIDER_MODULES')}"
        raise UnusableCode(msg)
    return found


def _project_settings(project: Path) -> Settings:
    file = project / "scrapy.cfg"
    config = configparser.ConfigParser()
    if not file.is_file() or not config.read(file) or not config.has_option("settings", "default"):
        msg = f"{project} is no project of Scrapy: it has no scrapy.cfg with [settings] and default in it"
        raise UnusableCode(msg)
    if str(project.resolve()) not in sys.path:
        sys.path.insert(0, str(project.resolve()))
    settings = Settings()
    settings.setmodule(_imported(config.get("settings", "default")), priority="project")
    return settings


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        msg = f"{name} cannot be imported ({type(error).__name__}: {error})"
        raise UnusableCode(msg[:500]) from error


def _spiders(settings: Settings) -> Iterator[type[Spider]]:
    """Walk over the spiders that stand in the project's own modules, each once."""
    for root in settings.getlist("SPIDER_MODULES"):
        package = _imported(root)
        names = [each.name for each in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{root}.")]
        for module in (package, *map(_imported, names)):
            for found in vars(module).values():
                if isinstance(found, type) and issubclass(found, Spider) and found.__module__ == module.__name__:
                    yield found


def _entry(cls: type[Spider], project: Settings, vertical: str) -> SpiderEntry:
    left = []
    settings = project.copy()
    cls.update_settings(settings)
    addresses, headers, trouble = _beginnings(cls)
    left += trouble
    left += [f"{name}: {words}" for name, words in LEFT_OUT.items() if settings.getpriority(name)]
    if not settings.getbool("ROBOTSTXT_OBEY"):
        left.append("ROBOTSTXT_OBEY: robots.txt is always obeyed")
    entry: dict[str, Any] = {
        "name": _WORDS.sub("-", str(getattr(cls, "name", cls.__name__)).lower()).strip("-"),
        "vertical": vertical,
        "base_url": "/".join(addresses[0].split("/")[:3]) if addresses else "https://example.invalid",
        "adapter": f"scrapy:{cls.__module__}:{cls.__name__}",
        "max_pages": min(settings.getint("CLOSESPIDER_PAGECOUNT") or MOST_PAGES, MOST_PAGES),
    }
    if delay := min(settings.getfloat("DOWNLOAD_DELAY"), LONGEST_DELAY):
        entry["pace"] = {"interval_seconds": delay}
    if headers:
        entry["headers"] = headers
    others = sorted({one for each in addresses if (one := _domain(each)) != _domain(addresses[0])})
    if others:
        entry["settings"] = {"domains": others}
    entry["targets"] = [{"url": each} for each in addresses]
    return SpiderEntry(entry, tuple(left))


def _domain(url: str) -> str:
    try:
        return registrable_domain(url)
    except BadUrl:
        return ""


def _beginnings(cls: type[Spider]) -> tuple[list[str], dict[str, str], list[str]]:
    """Return the addresses that a spider begins with, the headers that it sends, and what cannot be taken over."""
    try:
        spider = make_spider(cls, None)
        found = [(each, address_of(each, spider)) for each in start_requests_of(spider)]
    except (UnusableCode, MustWait) as error:
        return [], {}, [f"where it begins is not known: {error}"]
    except Exception as error:  # noqa: BLE001 - somebody else's code; the others are taken over all the same
        return [], {}, [f"where it begins is not known: {type(error).__name__}: {error}"[:300]]
    left = [f"{each.url}: {address.why}" for each, address in found if isinstance(address, Unfollowed)]
    kept = dict.fromkeys(each.url.partition("#")[0] for each, address in found if isinstance(address, str))
    said = {name: value for each, _ in found for name, value in headers_of(each).items() if name in HARMLESS}
    return list(kept), said, left if kept else [*left, "it begins with no address; write its targets by hand"]
