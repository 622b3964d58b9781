"""The periodic task `outbox`: send what waits, each channel in its order, no faster than a message a second."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tidemill.alerts.ports import AlertChannel, ChannelAnswer, OutboxStore
from tidemill.core.alerts.outgoing import MAY_HAVE_COME, SEND_INTERVAL, ClaimedNotices, digest_of, retry_wait
from tidemill.pipeline.happenings import Announce, NoticeSent
from tidemill.pipeline.ports import Clock, ServiceRegistry

MOST_AT_ONCE = 20
"""Messages that one pass sends to one channel; the next pass goes on."""


class ChannelPass(msgspec.Struct, frozen=True):
    """What one channel has sent, and whether it failed then."""

    sent: int
    has_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxSender:
    """Sends the messages of the outbox by the channels that are set up."""

    clock: Clock
    announce: Announce
    outbox: OutboxStore
    channels: Mapping[str, AlertChannel]
    services: ServiceRegistry

    async def run(self) -> str:
        """Send what may be sent now, by all channels at once: one that fails or is slow costs the others nothing."""
        found = [self.channels.get(name) for name in await self.outbox.has_work(self.clock.now())]
        usable = [channel for channel in found if channel is not None]  # of one switched off since they expire
        passes = await asyncio.gather(*map(self._pass, usable), return_exceptions=True)
        for trouble in passes:
            if isinstance(trouble, BaseException):
                raise trouble  # after all have ended: a message in mid-send is noted before
        done = [each for each in passes if isinstance(each, ChannelPass)]
        failed = sum(each.has_failed for each in done)
        return f"{sum(each.sent for each in done)} sent" + (f", {failed} channels failed" if failed else "")

    async def _pass(self, channel: AlertChannel) -> ChannelPass:
        """Send a channel's messages, in their order."""
        for place in range(MOST_AT_ONCE):
            if place:
                await self.clock.sleep_until(self.clock.now() + SEND_INTERVAL)
            claimed = await self.outbox.claim(channel.name, self.clock.now())
            if claimed is None:
                return ChannelPass(place)
            if not await self._send(channel, claimed):
                return ChannelPass(place, has_failed=True)
        return ChannelPass(MOST_AT_ONCE)

    async def _send(self, channel: AlertChannel, claimed: ClaimedNotices) -> bool:
        """Send one message and note what became of it.

        A crash between the two sends it again, and so does an answer that does not come in time. Then it says so: we
        cannot know whether it came.
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
            next_try_at = now + retry_wait(claimed.attempts, answer.retry_after)
            await self.outbox.put_back(claimed, answer.error, next_try_at, may_have_come=answer.may_have_come)
            await self.services.degraded(channel.service, answer.error)
