"""Make something new from templates: an adapter from its vertical's, or a vertical that runs as made."""

import keyword
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

from tidemill.bootstrap.plugins import PLUGINS
from tidemill.core.urls import BadUrl, registrable_domain
from tidemill.operations.mistakes import Mistake
from tidemill.store.schema import metadata

PAGES = ("usual.html", "empty.html", "changed.html", "blocked.html", "golden.json")
TEMPLATE_ENDING = ".txt"
_ADAPTER_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_VERTICAL_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
LONGEST_NAME = 30
TOP = PurePosixPath()
RESERVED = frozenset(
    {"account", "adapters", "add_source", "api", "audit", "breakers", "browsers", "busy", "candidates", "dead_letters",
     "exports", "faults", "feeds", "health", "homes", "import_targets", "incidents", "interval", "jobs", "json",
     "keep", "links", "me", "metrics", "offers", "openapi", "pages", "people", "port", "products", "proposals",
     "quarantine", "ready", "rounds", "seconds", "seed", "services", "settings", "shops", "sign_in", "sites",
     "sources", "static", "status", "targets", "ticks", "tokens", "upgrades", "v1", "welcome", "work"}
)  # fmt: skip
"""Paths of the web app and options of demo and lab that no command is called after; a test keeps the list complete."""


def verticals() -> list[str]:
    """Return the verticals that have templates for adapters."""
    return sorted(name for name in PLUGINS if adapter_templates(name) is not None)


def adapter_templates(vertical: str) -> Traversable | None:
    """Return the folder `scaffold` in the package of a vertical, if it has one."""
    plugin = PLUGINS.get(vertical)
    folder = files(type(plugin).__module__) / "scaffold" if plugin is not None else None
    return folder if folder is not None and folder.is_dir() else None


def scaffold(name: str, vertical: str, host: str, into: Path, now: datetime) -> list[Path]:
    """Write the files of a new adapter; nothing that is there already is overwritten.

    Raises:
        Mistake: the name, the vertical or the address cannot be used, or there is something already.
    """
    if not _ADAPTER_NAME.fullmatch(name):
        msg = f"{name!r} cannot be an adapter's name; write small letters, digits and dashes, such as townhall-arnhem"
        raise Mistake(msg)
    source = adapter_templates(vertical)
    if source is None:
        msg = f"there is no template for {vertical!r}; there are {', '.join(verticals())}"
        raise Mistake(msg)
    values = {**derived_names(name), "domain": _site(host), "today": now.isoformat(timespec="seconds")}
    folder, package = new_folder(into, values), values["package"]
    wanted = {
        folder / "pyproject.toml": _templates() / "adapter" / "pyproject.toml.txt",
        folder / package / "__init__.py": source / "adapter.py.txt",
        folder / "tests" / f"test_{package}.py": source / "test.py.txt",
        **{folder / package / "golden" / page: source / page for page in PAGES},
    }
    return write_files(wanted, values)


def scaffold_vertical(name: str, into: Path, taken: Mapping[str, object]) -> list[Path]:
    """Write the files of a new vertical; `taken` are the commands that there are, by name.

    Raises:
        Mistake: the name cannot be used, or there is something already.
    """
    if objection := _reason_to_refuse(name, taken):
        msg = f"{name!r} cannot be a vertical's name: {objection}"
        raise Mistake(msg)
    values = {**derived_names(name), "name": name, "words": name.replace("_", " "), "table": f"{name}_records"}
    values["label"] = values["words"].capitalize()
    folder = new_folder(into, values)
    replacements = {"package": values["package"], "NAME": name}
    wanted = {
        folder / _target_path(path, replacements): template for path, template in _files(_templates() / "vertical")
    }
    return write_files(wanted, values)


def _reason_to_refuse(name: str, taken: Mapping[str, object]) -> str:
    if not _VERTICAL_NAME.fullmatch(name) or len(name) > LONGEST_NAME or keyword.iskeyword(name):
        return f"write small letters, digits and underscores, at most {LONGEST_NAME}, such as used_cars"
    if name in PLUGINS:
        return "there is a vertical of that name"
    if name in taken:
        return f"`tidemill {name}` is a command already"
    if name in RESERVED or f"{name}_records" in metadata.tables:
        return "Tidemill itself uses it"
    return ""


def derived_names(name: str) -> dict[str, str]:
    """Return the slug, package and class name that follow from a name."""
    slug = name.replace("_", "-")
    return {
        "slug": slug,
        "package": f"tidemill_{slug.replace('-', '_')}",
        "class_name": "".join(part.capitalize() for part in slug.split("-")),
    }


def new_folder(into: Path, values: Mapping[str, str]) -> Path:
    """Return the folder to make; raise Mistake if it exists."""
    folder = into / f"tidemill-{values['slug']}"
    if folder.exists():
        msg = f"{folder} exists already; choose another name, or another folder by --into"
        raise Mistake(msg)
    return folder


def write_files(wanted: Mapping[Path, Traversable], values: Mapping[str, str]) -> list[Path]:
    """Fill in the templates, write each to its path, and return the paths."""
    for target, template in wanted.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text("utf-8")).substitute(values), "utf-8")
    return list(wanted)


def _files(folder: Traversable, under: PurePosixPath = TOP) -> Iterator[tuple[PurePosixPath, Traversable]]:
    """Yield every template below a folder with its path, files before folders."""
    for each in sorted(folder.iterdir(), key=lambda found: (found.is_dir(), found.name)):
        if each.is_dir():
            yield from _files(each, under / each.name)
        elif each.name.endswith(TEMPLATE_ENDING):
            yield under / each.name, each


def _target_path(template: PurePosixPath, replacements: Mapping[str, str]) -> Path:
    """Return where a template's file goes: some folders and files are named after the vertical."""
    *folders, file = template.parts
    stem, dot, ending = file.removesuffix(TEMPLATE_ENDING).partition(".")
    return Path(*(replacements.get(each, each) for each in folders), replacements.get(stem, stem) + dot + ending)


def _templates() -> Traversable:
    return files("tidemill.cli.scaffold")


def _site(host: str) -> str:
    try:
        return registrable_domain(host)
    except BadUrl as error:
        msg = f"{host!r} is no site; write a name such as arnhem.nl"
        raise Mistake(msg) from error
