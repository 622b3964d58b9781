"""Look at the pinned requirements without a network: with hashes, as installed, and none that is known to be bad.

It cannot know what was found out since `tools/known_bad.toml` was last read against the advisories, nor whether a
version was withdrawn: where there is a network, run `pip-audit -r requirements/develop.txt` beside it.
"""

import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = ("base.txt", "develop.txt", "bench.txt", "release.txt")
_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,-]+\])?==(\S+)")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")


def main() -> None:
    """Print what is wrong, and end with 1 if anything is."""
    problems = list(audit(ROOT))
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.exit(1 if problems else 0)


def audit(root: Path) -> Iterator[str]:
    """Yield what is wrong with the pinned requirements of a checkout."""
    known_bad = tomllib.loads((root / "tools" / "known_bad.toml").read_text())
    pinned: dict[str, set[str]] = {}
    for name in LOCKS:
        lines = (root / "requirements" / name).read_text()
        yield from (f"requirements/{name}: {problem}" for problem in unpinned(lines))
        for package, found in versions(lines).items():
            if pinned.setdefault(package, found) != found:
                elsewhere = _listed(pinned[package])
                yield f"requirements/{name}: {package} is {_listed(found)} here and {elsewhere} elsewhere"
    yield from bad_versions(pinned, known_bad)
    yield from not_as_pinned(pinned)


def unpinned(lines: str) -> Iterator[str]:
    """Yield the requirements without an exact version or without a hash."""
    for requirement in lines.replace("\\\n", " ").splitlines():
        stated = requirement.split("#")[0].strip()
        if stated and not _PINNED.match(stated):
            yield f"{stated.split()[0]} has no exact version"
        elif stated and "--hash=sha256:" not in stated:
            yield f"{stated.split()[0]} has no hash"


def versions(lines: str) -> dict[str, set[str]]:
    """Return the pinned versions of each package; a few have another for an older Python."""
    found: dict[str, set[str]] = {}
    for match in filter(None, map(_PINNED.match, lines.splitlines())):
        found.setdefault(normal(match[1]), set()).add(match[2].rstrip(";\\ "))
    return found


def _listed(found: Iterable[str]) -> str:
    return " or ".join(sorted(found))


def bad_versions(pinned: Mapping[str, Collection[str]], known_bad: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the packages that are older than the version in which something bad was mended."""
    for package, entry in known_bad.items():
        for version in sorted(pinned.get(normal(package), ())):
            if release_of(version) < release_of(entry["mended"]):
                yield f"{package} {version}: {entry['why']}; mended in {entry['mended']}"


def not_as_pinned(pinned: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the packages of this environment that have another version than the pinned one."""
    for each in metadata.distributions():
        wanted = pinned.get(normal(each.metadata["Name"]))
        if wanted is not None and each.version not in wanted:
            yield f"{each.metadata['Name']} is installed as {each.version}, and pinned as {_listed(wanted)}"


def release_of(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without what follows them."""
    match = _RELEASE.match(version)
    return tuple(map(int, match[0].split("."))) if match else ()


def normal(package: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", package).lower()


if __name__ == "__main__":
    main()
