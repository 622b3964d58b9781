"""The fork server: a small process that has imported what reading needs, and forks readers from itself.

A fresh reader takes milliseconds then, instead of the quarter of a second that the imports take. It runs no thread, no
event loop and no database, so that forking is safe, and tells its worker when a reader starts and ends.
"""

import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

NOTE = struct.Struct("<cii")
"""What happened, to which process, and how it ended."""
ORDER = struct.Struct("<ci")
"""What is to be done, and to which process."""


class Note(bytes, Enum):
    """What the fork server tells its worker."""

    READY = b"R"
    STARTED = b"S"
    ENDED = b"E"


class Order(bytes, Enum):
    """What a worker asks of its fork server; for a reader it sends the connection along."""

    START = b"F"
    START_NICE = b"N"
    KILL = b"K"


Serve = Callable[[socket.socket, bool], None]


def run_fork_server(control: socket.socket, serve: Serve) -> None:
    """Fork readers as told until the worker is gone, then end them all.

    `serve` is what a reader does with its connection; the flag says whether others go before it.
    """
    wake_end, handler_end = socket.socketpair()
    for end in (wake_end, handler_end):
        end.setblocking(False)  # noqa: FBT003 - the standard library asks for it so
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(handler_end.fileno(), warn_on_full_buffer=False)
    children: set[int] = set()
    with control, wake_end, handler_end:
        with suppress(BrokenPipeError):  # the worker died while this process was starting
            control.sendall(NOTE.pack(Note.READY, os.getpid(), 0))
            _serve_orders(control, (wake_end, handler_end), children, serve)
        signal.set_wakeup_fd(-1)  # children still end, and Python would complain about sockets that are closed
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _serve_orders(
    control: socket.socket, wake: tuple[socket.socket, socket.socket], children: set[int], serve: Serve
) -> None:
    """Obey until the worker is gone, and tell it of the children that end."""
    wake_end, _ = wake
    while True:
        readable, _, _ = select.select([control, wake_end], [], [])
        if wake_end in readable:
            wake_end.recv(4_096)
            tell_ended(control, children)
        if control in readable and not _obey(control, wake, children, serve):
            return


def _obey(control: socket.socket, unneeded: tuple[socket.socket, ...], children: set[int], serve: Serve) -> bool:
    """Carry out one order; return False when the worker is gone."""
    try:
        order, descriptors, _, _ = socket.recv_fds(control, ORDER.size, 1)
    except ConnectionError:
        return False
    if len(order) < ORDER.size:
        return False
    word, pid = ORDER.unpack(order)
    if word == Order.KILL:
        if pid in children:
            os.kill(pid, signal.SIGKILL)
        return True
    connection = socket.socket(fileno=descriptors[0])
    child = os.fork()
    if child == 0:
        _be_reader(connection, (control, *unneeded), serve, is_nice=word == Order.START_NICE)
    connection.close()
    children.add(child)
    control.sendall(NOTE.pack(Note.STARTED, child, 0))
    return True


def _be_reader(connection: socket.socket, unneeded: tuple[socket.socket, ...], serve: Serve, *, is_nice: bool) -> None:
    """Read pages, and end without running anything that the fork server has prepared for its own end."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in unneeded:
            each.close()
        serve(connection, is_nice)
        status = 0
    except (BrokenPipeError, ConnectionResetError):
        status = 0  # the worker is gone
    finally:
        os._exit(status)


def tell_ended(control: socket.socket, children: set[int]) -> None:
    """Tell the worker of every reader that has ended, and how."""
    while children:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        children.discard(pid)
        with suppress(ConnectionError):
            control.sendall(NOTE.pack(Note.ENDED, pid, os.waitstatus_to_exitcode(status)))
