"""Mail by SMTP, never to an address that the guard refuses, and with no password in any answer."""

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

TIMEOUT = 20.0
"""Seconds."""
PORTS = {"smtp": 587, "smtps": 465}


class RefusedServerError(OSError):
    """The mail server's address is not one that we may connect to."""


class _GuardedSmtp(smtplib.SMTP):
    """Connects only to addresses that the guard allows."""

    resolve: Callable[[str, int], tuple[str, int]]
    context: ssl.SSLContext | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> Any:
        opened = socket.create_connection(self.resolve(host, port), timeout)
        if self.context is None:
            return opened
        return self.context.wrap_socket(opened, server_hostname=host)


class SmtpSender:
    """Sends one mail per connection; a server that offers STARTTLS gets it."""

    def __init__(
        self, url: str, allows: Callable[[str, str, int], bool], resolve: Mapping[str, str] | None = None
    ) -> None:
        """`url` is smtp://USER:PASSWORD@HOST:PORT or smtps://; `allows` is the guard's word about an address."""
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or PORTS[parts.scheme]
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._is_tls = parts.scheme == "smtps"
        self._allows = allows
        self._known = dict(resolve or {})

    async def send(self, message: EmailMessage) -> str:
        """Send a mail; '' or the kind of trouble."""
        try:
            await asyncio.to_thread(self._deliver, message)
        except smtplib.SMTPAuthenticationError:
            return "mail: the server refused our name and password"
        except smtplib.SMTPRecipientsRefused:
            return "mail: the server refused the addresses"
        except smtplib.SMTPResponseException as error:
            return f"mail: the server answered {error.smtp_code}"
        except (smtplib.SMTPException, OSError) as error:
            return f"mail: {type(error).__name__}"
        return ""

    def _deliver(self, message: EmailMessage) -> None:
        client = _GuardedSmtp(timeout=TIMEOUT)
        client.resolve = self._address
        client.context = ssl.create_default_context() if self._is_tls else None
        client.connect(self._host, self._port)
        client._host = self._host  # type: ignore[attr-defined]  # noqa: SLF001 - what STARTTLS checks the name by
        try:
            client.ehlo()
            if not self._is_tls and client.has_extn("starttls"):
                client.starttls(context=ssl.create_default_context())
                client.ehlo()
            if self._user:
                client.login(self._user, self._password)
            client.send_message(message)
        finally:
            client.close()

    def _address(self, host: str, port: int) -> tuple[str, int]:
        """Return the first address of a host that the guard allows."""
        name = self._known.get(host, host)
        for *_, found in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM):
            if self._allows(host, str(found[0]), port):
                return str(found[0]), port
        raise RefusedServerError
