"""The periodic task `outbox`: send what waits, each channel in its order, no faster than a message a second."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tidemill.alerts.ports import AlertChannel, ChannelAnswer, OutboxStore
from tidemill.core.alerts.outgoing import MAY_HAVE_COME, SEND_INTERVAL, ClaimedNotices, digest_of, retry_wait
from tidemill.pipeline.happenings import Announce, NoticeSent
from tidemill.pipeline.ports import Clock, ServiceRegistry

MOST_AT_ONCE = 20
"""Messages that one pass sends to one channel; the next pass goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxSender:
    """Sends the messages of the outbox by the channels that are set up."""

    clock: Clock
    announce: Announce
    outbox: OutboxStore
    channels: Mapping[str, AlertChannel]
    services: ServiceRegistry

    async def run(self) -> str:
        """Send what may be sent now; a channel that fails keeps its messages and costs the others nothing."""
        sent = failed = 0
        for name in await self.outbox.has_work(self.clock.now()):
            channel = self.channels.get(name)
            if channel is None:
                continue  # switched off since; its messages expire
            for place in range(MOST_AT_ONCE):
                if place:
                    await self.clock.sleep_until(self.clock.now() + SEND_INTERVAL)
                claimed = await self.outbox.claim(name, self.clock.now())
                if claimed is None:
                    break
                if not await self._send(channel, claimed):
                    failed += 1
                    break
                sent += 1
        return f"{sent} sent" + (f", {failed} channels failed" if failed else "")

    async def _send(self, channel: AlertChannel, claimed: ClaimedNotices) -> bool:
        """Send one message and note what became of it.

        A crash between the two sends it again, and then it says so: a channel cannot tell us whether it came.
        """
        now = self.clock.now()
        notice = digest_of(claimed.notices, now) if claimed.is_digest else claimed.notices[0]
        answer = await channel.send(notice, MAY_HAVE_COME if claimed.may_have_come else "", now)
        await self._note(channel, claimed, answer)
        self.announce(NoticeSent(self.clock.now(), channel.name, notice.kind, answer.error))
        return not answer.error or answer.is_final

    async def _note(self, channel: AlertChannel, claimed: ClaimedNotices, answer: ChannelAnswer) -> None:
        now: datetime = self.clock.now()
        if not answer.error:
            await self.outbox.sent(claimed, now)
            await self.services.works(channel.service)
        elif answer.is_final:
            await self.outbox.refused(claimed, answer.error)
        else:
            await self.outbox.put_back(claimed, answer.error, now + retry_wait(claimed.attempts, answer.retry_after))
            await self.services.degraded(channel.service, answer.error)
