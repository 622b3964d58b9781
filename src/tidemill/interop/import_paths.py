"""Names of adapters that are import paths: `poet:package.module:PageClass`, `scrapy:package.module:Spider`."""

import importlib
import inspect
import re
import sys
from importlib import metadata
from typing import Any, NamedTuple

from tidemill.interop.reading_code import code_digest

_NAME = re.compile(r"(?P<scheme>[a-z]+):(?P<module>[A-Za-z_][\w.]*):(?P<attribute>[A-Za-z_]\w*)")
_SEMVER = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
LONGEST_NAME = 200
NO_SOURCE = "0"


class UnusableCode(Exception):
    """The code cannot be used as an adapter; the message says why, and what to do."""


class ImportPath(NamedTuple):
    """An adapter's name taken apart."""

    scheme: str
    module: str
    attribute: str

    def __str__(self) -> str:
        """Return the name as it is written."""
        return f"{self.scheme}:{self.module}:{self.attribute}"


def parse_import_path(name: str, schemes: frozenset[str]) -> ImportPath | None:
    """Return the name taken apart; None if it begins with none of the schemes.

    Raises:
        UnusableCode: it begins with one of them, but goes on otherwise than an import path does.
    """
    scheme, colon, _ = name.partition(":")
    if not colon or scheme not in schemes:
        return None
    found = _NAME.fullmatch(name) if len(name) <= LONGEST_NAME else None
    if found is None:
        msg = f"write {scheme}:package.module:ClassName, not {name[:LONGEST_NAME]!r}"
        raise UnusableCode(msg)
    return ImportPath(found["scheme"], found["module"], found["attribute"])


def import_class(path: ImportPath) -> type[Any]:
    """Return the class that a name points at.

    Raises:
        UnusableCode: its module cannot be imported, or there is no such class in it.
    """
    if path.module.partition(".")[0] in sys.stdlib_module_names:
        msg = f"{path.module} is a module of Python itself; name the module that holds your class"
        raise UnusableCode(msg)
    try:
        found = getattr(importlib.import_module(path.module), path.attribute, None)
    except Exception as error:
        msg = (
            f"{path.module} cannot be imported ({type(error).__name__}: {error}); install its package beside Tidemill, "
            "or put its folder on PYTHONPATH"
        )
        raise UnusableCode(msg[:500]) from error
    if not inspect.isclass(found):
        msg = f"there is no class {path.attribute} in {path.module}"
        raise UnusableCode(msg)
    return found


def code_version(cls: type[Any], *others: str) -> str:
    """Return the version of a class as semver: its package's release, and a digest of the code that it reads with.

    `others` are further modules that take part in reading. Whoever changes that code gets another version without
    raising one by hand, so that stored pages are read anew.
    """
    return f"{_release(cls.__module__.partition('.')[0])}+{code_digest(cls.__module__, *others) or NO_SOURCE}"


def _release(package: str) -> str:
    try:
        found = _SEMVER.match(metadata.version(package))
    except (metadata.PackageNotFoundError, ValueError):
        found = None
    return ".".join(part or "0" for part in found.groups()) if found else "0.0.0"
