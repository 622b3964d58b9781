"""Make a new adapter from its vertical's templates: a package, its golden pages and the test that reads them."""

import re
from datetime import datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from tidemill.core.urls import BadUrl, registrable_domain
from tidemill.operations.mistakes import Mistake

PAGES = ("usual.html", "empty.html", "changed.html", "blocked.html", "golden.json")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


def verticals() -> list[str]:
    """Return the verticals that have templates."""
    return sorted(each.name for each in _templates().iterdir() if each.is_dir() and each.name[0].isalpha())


def scaffold(name: str, vertical: str, host: str, into: Path, now: datetime) -> list[Path]:
    """Write the files of a new adapter; nothing that is there already is overwritten.

    Raises:
        Mistake: the name, the vertical or the address cannot be used, or there is something already.
    """
    if not _NAME.fullmatch(name):
        msg = f"{name!r} cannot be an adapter's name; write small letters, digits and dashes, such as townhall-arnhem"
        raise Mistake(msg)
    if vertical not in verticals():
        msg = f"there is no template for {vertical!r}; there are {', '.join(verticals())}"
        raise Mistake(msg)
    values = _values(name, host, now)
    folder, package = into / f"tidemill-{values['slug']}", values["package"]
    if folder.exists():
        msg = f"{folder} exists already; choose another name, or another folder by --into"
        raise Mistake(msg)
    source = _templates() / vertical
    wanted = {
        folder / "pyproject.toml": _templates() / "project.toml.txt",
        folder / package / "__init__.py": source / "adapter.py.txt",
        folder / "tests" / f"test_{package}.py": source / "test.py.txt",
        **{folder / package / "golden" / page: source / page for page in PAGES},
    }
    for target, template in wanted.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text("utf-8")).substitute(values), "utf-8")
    return list(wanted)


def _templates() -> Traversable:
    return files("tidemill.cli.scaffold")


def _values(name: str, host: str, now: datetime) -> dict[str, str]:
    slug = name.replace("_", "-")
    return {
        "slug": slug,
        "package": f"tidemill_{slug.replace('-', '_')}",
        "class_name": "".join(part.capitalize() for part in slug.split("-")),
        "domain": _site(host),
        "today": now.isoformat(timespec="seconds"),
    }


def _site(host: str) -> str:
    try:
        return registrable_domain(host)
    except BadUrl as error:
        msg = f"{host!r} is no site; write a name such as arnhem.nl"
        raise Mistake(msg) from error
