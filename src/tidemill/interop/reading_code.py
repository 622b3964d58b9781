"""Which code reads: the modules that an adapter's own module imports within its package, and one digest of them all.

Whoever changes what an adapter reads, in its module or in one that it uses, has another digest, raised version or not.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

HASH_DIGITS = 12
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n#]*))", re.MULTILINE
)
_NAME = re.compile(rb"[\w.]+")
_TABLES = frozenset({".csv", ".json", ".toml", ".yaml", ".yml"})
"""Files beside a module that it may read by."""
MOST_MODULES = 2_000


@cache
def code_digest(*modules: str) -> str:
    """Return a digest of modules and of all that they import within their packages; '' where none has a source."""
    files = sorted({file for module in modules for name in _closure(module) for file in _files(name)})
    if not files:
        return ""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:HASH_DIGITS]


def _closure(module: str) -> Iterator[str]:
    """Yield the module and, of the same top-level package, everything that is imported from it on."""
    package = module.partition(".")[0]
    waiting, known = [module], {module}
    while waiting and len(known) < MOST_MODULES:
        name = waiting.pop()
        yield name
        for imported in _imported(name):
            if imported not in known and (imported == package or imported.startswith(package + ".")):
                known.add(imported)
                waiting.append(imported)


def _imported(module: str) -> Iterator[str]:
    file = _source(module)
    if file is None:
        return
    parent = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for begun, names, plain in _IMPORTS.findall(file.read_bytes()):
        if plain:
            yield from (found.decode() for found in _NAME.findall(plain))
            continue
        base = _absolute(begun.decode(), parent)
        yield base
        yield from (f"{base}.{found.decode()}" for found in _NAME.findall(names))


def _absolute(name: str, parent: str) -> str:
    """Return the full name of a module that is named by `from .items import`."""
    plain = name.lstrip(".")
    dots = len(name) - len(plain)
    if not dots:
        return plain
    parts = parent.split(".")
    return ".".join(part for part in (*parts[: len(parts) - dots + 1], plain) if part)


def _files(module: str) -> Iterator[Path]:
    file = _source(module)
    if file is None:
        return
    yield file
    yield from (each for each in file.parent.iterdir() if each.suffix in _TABLES)


@cache
def _source(module: str) -> Path | None:
    """Return the file of a module, found without importing it; None for what is none, or has no source."""
    package, *parts = module.split(".")
    for root in _roots(package):
        place = root.joinpath(*parts)
        for each in (place / "__init__.py", place.with_suffix(".py")):
            if each.is_file():
                return each
    return None


@cache
def _roots(package: str) -> tuple[Path, ...]:
    """Return the folders of a top-level package, or where a module of that name would have its folder."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        return tuple(Path(each) for each in spec.submodule_search_locations)
    return () if spec.origin is None or not spec.has_location else (Path(spec.origin).with_suffix(""),)
