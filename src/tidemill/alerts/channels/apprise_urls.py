"""Whatever Apprise knows: a hundred services, each by an address of its own."""

from datetime import datetime
from typing import Protocol

from tidemill.alerts.ports import ChannelAnswer
from tidemill.core.alerts.messages import AlertNotice, plain_text
from tidemill.core.services.degradation import Service


class AppriseSender(Protocol):
    """Sends a text by Apprise."""

    async def send(self, title: str, text: str) -> str:
        """Send it to every address; '' or why it was not taken."""
        ...


class AppriseChannel:
    """Sends notices as text."""

    name = "apprise"
    service = Service.APPRISE

    def __init__(self, sender: AppriseSender) -> None:
        """`sender` knows the addresses."""
        self._sender = sender

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:  # noqa: ARG002 - the port's
        """Send a notice."""
        return ChannelAnswer(error=await self._sender.send(notice.title, plain_text(notice, repeated)))

    async def close(self) -> None:
        """Nothing stays open."""
