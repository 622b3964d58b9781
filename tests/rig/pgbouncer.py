"""A real PgBouncer on loopback that lends connections by the transaction."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.postgres_binaries import dying_with_parent, unprivileged
from rig.postgres_keeper import USER, _free_port

SERVER_CONNECTIONS = 3
UNPACKED = Path(__file__).resolve().parents[2] / "build" / "pgbouncer" / "usr"


def find_pgbouncer() -> str | None:
    """Debian keeps it off most people's PATH; `make pooler` unpacks one."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path=f"/usr/sbin:/usr/local/sbin:{UNPACKED / 'sbin'}")


def libraries() -> dict[str, str]:
    """The environment in which an unpacked program finds the libraries that came with it."""
    folders = [str(folder) for folder in (UNPACKED / "lib").glob("*-linux-*")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)} if folders else dict(os.environ)  # noqa: TID251


@contextmanager
def a_pooler(program: str, server_port: int, folder: Path) -> Iterator[int]:
    """A pooler before a server; answers its port. Few connections, so that every caller meets every one of them."""
    port = _free_port()
    folder.chmod(0o755)
    settings = folder / "pgbouncer.ini"
    users = folder / "users.txt"
    users.write_text(f'"{USER}" ""\n')
    settings.write_text(
        f"[databases]\n* = host=127.0.0.1 port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {users}\npool_mode = transaction\n"
        f"default_pool_size = {SERVER_CONNECTIONS}\nmax_client_conn = 200\nserver_round_robin = 1\n"
    )
    command = [*unprivileged(folder), *dying_with_parent(), program, str(settings)]
    server = subprocess.Popen(command, env=libraries(), stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    said = []
    for line in server.stderr:
        said.append(line)
        if "process up" in line:
            break
    else:
        msg = f"pgbouncer did not start: {''.join(said)}"
        raise AssertionError(msg)
    try:
        yield port
    finally:
        server.kill()
        server.communicate()
