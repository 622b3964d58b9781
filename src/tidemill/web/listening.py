"""The socket that the web app listens on."""

import socket


class CannotListen(Exception):
    """The address cannot be bound; the message says why and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address; raise `CannotListen` if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        msg = f"the web app cannot listen on {host} port {port} ({error.strerror}); choose another port, or 0 for any"
        raise CannotListen(msg) from error
    listener.settimeout(0)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the URL of the socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"
