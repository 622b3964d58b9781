"""Keeps one PostgreSQL server alive for as long as anyone holds the lock, then leaves nothing behind.

Run as `python -m rig.postgres_keeper PROGRAMS COMMONS`. It says `ready` once the server answers, and is
a process of its own, so that no way of dying of the tests' process can leave a server running.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, Never

from rig.locks import held_alone
from rig.postgres_binaries import dying_with_parent, unprivileged

USER = "tidemill"
NOTE = "server.json"
TRIES = 3  # a free port may be taken by another between our look and the server's
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum": "on",
    "log_checkpoints": "off",
    "lc_messages": "C",
    "authentication_timeout": "10s",  # a caller that never says its name holds up a shutdown this long at most
}


class Note(NamedTuple):
    """What the keeper leaves in the commons for its users."""

    port: int
    keeper: int
    data: str


def read_note(commons: Path) -> Note:
    """What the keeper of `commons` wrote down."""
    return Note(**json.loads((commons / NOTE).read_text()))


def main(programs: Path, commons: Path) -> None:
    """Serve until the last user is gone."""
    signal.signal(signal.SIGTERM, _leave)
    with (
        held_alone(commons / "keeper.lock"),
        _a_folder() as data,
        _a_server(programs, data, commons / "postgres.log") as port,
    ):
        (commons / NOTE).write_text(json.dumps(Note(port, os.getpid(), str(data))._asdict()))
        sys.stdout.write("ready\n")
        sys.stdout.close()
        with held_alone(commons / "users.lock"):
            (commons / NOTE).unlink()


def _leave(*_: object) -> Never:
    raise SystemExit(1)


MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
ENOUGH = 4 << 30  # bytes; a whole run of the tests takes a tenth of it


def _where() -> Path | None:
    """Return the folder in memory where there is room, else None: a new database is a thousand files.

    On ext4 each of them passes over the files that were deleted lately, and tests delete a database each.
    """
    if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free >= ENOUGH:
        return MEMORY_DISK
    return None


@contextlib.contextmanager
def _a_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tidemill-postgres-", dir=_where()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _a_server(programs: Path, data: Path, log: Path) -> Iterator[int]:
    as_someone = unprivileged(data)
    _create_cluster([*as_someone, str(programs / "initdb")], data)
    server, port = _start([*as_someone, *dying_with_parent(), str(programs / "postgres")], data, log)
    try:
        yield port
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait()


def _create_cluster(initdb: list[str], data: Path) -> None:
    options = ["--username", USER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
    done = subprocess.run([*initdb, "-D", str(data), *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"initdb failed: {done.stderr.strip()}")


def _start(postgres: list[str], data: Path, log: Path) -> tuple[subprocess.Popen[str], int]:
    for _ in range(TRIES):
        port = _free_port()
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = [*postgres, "-D", str(data), "-p", str(port), *settings]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        if _became_ready(server, log):
            return server, port
        server.wait()
    sys.exit(f"postgres did not start: {log.read_text()}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _became_ready(server: subprocess.Popen[str], log: Path) -> bool:
    """Follow the server's log into a file; True at the line that says it answers, False when it ends before."""
    verdict: SimpleQueue[bool] = SimpleQueue()
    threading.Thread(target=_follow, args=(server.stderr, log, verdict), daemon=True).start()
    return verdict.get()


def _follow(lines: Iterable[str], log: Path, verdict: "SimpleQueue[bool]") -> None:
    with log.open("a", buffering=1) as copy:
        for line in lines:
            copy.write(line)
            if "ready to accept connections" in line or "ready to accept read-only connections" in line:
                verdict.put(True)  # noqa: FBT003 -- a queue of answers
    verdict.put(False)  # noqa: FBT003 -- a queue of answers


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
