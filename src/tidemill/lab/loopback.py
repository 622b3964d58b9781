"""Sockets on this machine only: one address per site, all on one port."""

import errno
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address

FIRST_ADDRESS = IPv4Address("127.0.0.11")
ONLY_ADDRESS = "127.0.0.1"
_TRIES = 20


class NoPortError(OSError):
    """No port is free on all the addresses at once."""


def addresses(count: int) -> list[str]:
    """So many loopback addresses, from 127.0.0.11 on."""
    return [str(FIRST_ADDRESS + number) for number in range(count)]


def listening_sockets(hosts: Sequence[str], port: int = 0) -> list[socket.socket]:
    """A listening socket on each address, all on the same port; port 0 picks a free one.

    Raises `NoPortError` when that cannot be had, such as on systems where only 127.0.0.1 is loopback.
    """
    for _ in range(_TRIES if port == 0 else 1):
        opened: list[socket.socket] = []
        try:
            for host in hosts:
                opened.append(_listening(host, port or (opened[0].getsockname()[1] if opened else 0)))
        except OSError as error:
            for one in opened:
                one.close()
            if error.errno != errno.EADDRINUSE:
                msg = f"cannot listen on {hosts[len(opened)]}: {error.strerror}"
                raise NoPortError(msg) from error
        else:
            return opened
    msg = f"no port is free on all {len(hosts)} loopback addresses"
    raise NoPortError(msg)


def _listening(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        listener.setblocking(False)  # noqa: FBT003 -- the socket module's own call
    except OSError:
        listener.close()
        raise
    return listener
