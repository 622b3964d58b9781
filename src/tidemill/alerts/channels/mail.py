"""Mail: notices as plain text."""

from collections.abc import Sequence
from datetime import datetime
from email.message import EmailMessage
from hashlib import sha256
from typing import Protocol

from tidemill.alerts.ports import ChannelAnswer
from tidemill.core.alerts.messages import AlertNotice, plain_text
from tidemill.core.services.degradation import Service


class MailSender(Protocol):
    """Hands a mail to a server."""

    async def send(self, message: EmailMessage) -> str:
        """Send it; '' or why it was not taken, without secrets."""
        ...


class MailChannel:
    """Mails notices to a few addresses."""

    name = "mail"
    service = Service.MAIL

    def __init__(self, sender: MailSender, from_address: str, to: Sequence[str]) -> None:
        """`to` are the addresses of people."""
        self._sender = sender
        self._from = from_address
        self._to = list(to)

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:  # noqa: ARG002 - the port's
        """Mail a notice; the same notice has the same Message-ID, so that a second copy can be told."""
        message = EmailMessage()
        message["Subject"] = " ".join(f"[tidemill] {notice.title}".split())
        message["From"] = self._from
        message["To"] = ", ".join(self._to)
        message["Message-ID"] = f"<{sha256(notice.key.encode()).hexdigest()[:32]}@tidemill>"
        message.set_content(plain_text(notice, repeated))
        return ChannelAnswer(error=await self._sender.send(message))

    async def close(self) -> None:
        """Nothing stays open between two mails."""
