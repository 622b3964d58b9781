"""Forks processes that have everything imported already: a real process in milliseconds instead of seconds.

Run as `python -m rig.zygote LINE`, where `LINE` is the descriptor of a socket. Each message on it is a process's
orders, with three descriptors: what the process hears, what it says, and where its keeper tells how it ended.
"""

import json
import os
import signal
import socket
import sys
from typing import Any, Never

from rig.parent import die_with_parent
from rig.worker_child import live

LONGEST_ORDERS = 65_536


def main(line: socket.socket) -> None:
    """Fork until whoever holds the other end of the line is gone."""
    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line.send(b"ready")
    while True:
        orders, files, _, _ = socket.recv_fds(line, LONGEST_ORDERS, 3)
        if not orders:
            return
        if os.fork() == 0:
            line.close()
            keep(json.loads(orders), *files)
        for file in files:
            os.close(file)


def keep(orders: dict[str, Any], hears: int, says: int, tells: int) -> Never:
    """Fork the process itself, and tell its number and then its end: it is no child of the tests."""
    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    worker = os.fork()
    if worker == 0:
        os.close(tells)
        die_with_parent()
        os._exit(live(orders, hears, says))
    os.close(hears)
    os.close(says)
    os.write(tells, f"{worker}\n".encode())
    os.write(tells, f"{os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
