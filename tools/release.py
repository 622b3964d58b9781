"""Makes a release: refuses what is not ready, checks, builds, tries the packages and sets the tag.

It writes `dist/` and an annotated tag, and pushes nothing.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}")
PACKAGE = Path("src/tidemill/__init__.py")
CHANGELOG = Path("CHANGELOG.md")


class NotReadyError(Exception):
    """Something has to be put in order first; the words say what."""


def main() -> None:
    """Read the command line and make the release, or rehearse it."""
    reader = argparse.ArgumentParser(prog="make release", description=__doc__)
    reader.add_argument("version", nargs="?", default="", help="such as 1.2.3")
    reader.add_argument("--dry-run", action="store_true", help="no check, no tests, no tag; refusals are only told")
    given = reader.parse_args()
    try:
        if given.dry_run:
            rehearse(ROOT, given.version or package_version(ROOT))
        else:
            release(ROOT, given.version)
    except NotReadyError as reason:
        sys.exit(f"Not released: {reason}")


def release(root: Path, version: str) -> None:
    """Everything from the first refusal to the tag."""
    if reasons := refusals(root, version):
        raise NotReadyError("\n  ".join(["", *reasons]))
    run(root, "make", "check")
    run(root, sys.executable, "tools/audit.py")
    run(root, "make", "test")
    try_out(root, build(root, version), version)
    if changed := git(root, "status", "--porcelain"):
        msg = f"the checks or the build left changes behind:\n{changed}"
        raise NotReadyError(msg)
    words = f"Tidemill {version}\n\n{changes(root, version)}"
    git(root, "tag", "--annotate", "--cleanup=whitespace", "--message", words, f"v{version}")
    say(f"Tagged v{version}. To publish: git push origin main v{version}, then .venv/bin/twine upload dist/*")


def rehearse(root: Path, version: str) -> None:
    """Build and try the packages; whatever would be refused is told and fails the rehearsal at its end."""
    reasons = refusals(root, version)
    try_out(root, build(root, version), version)
    say(f"Rehearsed {version}: the packages are in dist/. No check, no tests, no tag.")
    if reasons:
        raise NotReadyError("\n  ".join(["it would be refused, because", *reasons]))


def refusals(root: Path, version: str) -> list[str]:
    """Why this version cannot be released from this checkout; empty when it can."""
    if not VERSION.fullmatch(version):
        return [f"{version!r} is not a version such as 1.2.3 (make release VERSION=1.2.3)"]
    branch = git(root, "rev-parse", "--abbrev-ref", "HEAD")
    found = {
        f"the branch is {branch}, not main": branch != "main",
        "there are changes that are not committed": bool(git(root, "status", "--porcelain")),
        f"the tag v{version} exists already": bool(git(root, "tag", "--list", f"v{version}")),
        f"{PACKAGE} says {package_version(root)}, not {version}": package_version(root) != version,
        f"{CHANGELOG} has no section '## {version}' that says what changed": not changes(root, version),
    }
    return [reason for reason, holds in found.items() if holds]


def package_version(root: Path) -> str:
    """The version that the package says it has."""
    found = re.search(r'^__version__ = "(.+)"$', (root / PACKAGE).read_text(), re.MULTILINE)
    return found[1] if found else "nothing"


def changes(root: Path, version: str) -> str:
    """What the changelog says of a version; empty when it has no such section or nothing in it."""
    section = rf"^## {re.escape(version)}(?: [^\n]*)?$\n(.*?)(?=^## |\Z)"
    found = re.search(section, (root / CHANGELOG).read_text(), re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def build(root: Path, version: str) -> Path:
    """Make the sdist and from it the wheel, with the pinned build tools, and check both; answers the wheel."""
    say(f"Building {version}")
    shutil.rmtree(root / "dist", ignore_errors=True)
    run(root, sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist")
    wheel, sdist = (root / f"dist/tidemill-{version}{ending}" for ending in ("-py3-none-any.whl", ".tar.gz"))
    run(root, sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    if missing := missing_from(wheel, git(root, "ls-files", "src/tidemill").splitlines()):
        msg = f"the wheel lacks {', '.join(missing)}"
        raise NotReadyError(msg)
    return wheel


def missing_from(wheel: Path, tracked: list[str]) -> list[str]:
    """The files of the package that the wheel lacks: templates, migrations, styles and all."""
    held = set(ZipFile(wheel).namelist())
    return [file for file in tracked if file.removeprefix("src/") not in held]


def try_out(root: Path, wheel: Path, version: str) -> None:
    """Install the wheel beside the pinned requirements, as a user would; it must answer and make its tables."""
    say("Installing the wheel into an environment of its own")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(place, sys.executable, "-m", "venv", "venv")
        pip = [str(place / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(place, *pip, "--require-hashes", "-r", str(root / "requirements/base.txt"))
        run(place, *pip, "--no-deps", str(wheel))
        program = str(place / "venv/bin/tidemill")
        if (told := run(place, program, "--version", quiet=True)) != f"tidemill {version}":
            msg = f"the wheel says that it is {told!r}"
            raise NotReadyError(msg)
        run(place, program, "--database", f"sqlite:///{place / 'empty.db'}", "migrate")


def git(root: Path, *words: str) -> str:
    """What git answers."""
    return run(root, "git", *words, quiet=True)


def run(where: Path, *command: str, quiet: bool = False) -> str:
    """Run a command; one that fails ends the release."""
    done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE if quiet else None, text=True, check=False)
    if done.returncode:
        msg = f"{' '.join(command)} failed ({done.returncode})"
        raise NotReadyError(msg)
    return (done.stdout or "").strip()


def say(words: str) -> None:
    """Tell the person what goes on."""
    print(f"\n{words}", flush=True)


if __name__ == "__main__":
    main()
