"""Slack, by an incoming webhook; its address is the secret and stands in no answer."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from tidemill.alerts.ports import ChannelAnswer
from tidemill.core.alerts.messages import AlertNotice, slack_body
from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Transport, WireFailure, WireRequest, WireResponse

TIMEOUT = timedelta(seconds=10)
MAX_ANSWER_BYTES = 16_000
LONGEST_RETRY_AFTER = timedelta(hours=1)
MOST_DIGITS = 9
"""Of the wait that is asked for: more make no longer wait, and no number that a time could not hold."""
_OK_CLASS, _BAD_REQUEST, _TOO_MANY = 2, 400, 429
_HEADERS = {"Content-Type": "application/json"}


class SlackChannel:
    """Posts notices as blocks."""

    name = "slack"
    service = Service.SLACK

    def __init__(self, url: str, transport: Transport, reason_to_refuse: Callable[[str], str]) -> None:
        """`url` is the webhook's; `reason_to_refuse` says why an address may not be called."""
        self._url = url
        self._transport = transport
        self._reason_to_refuse = reason_to_refuse

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:  # noqa: ARG002 - the port's
        """Post a notice; a redirect is no answer, because it could lead anywhere."""
        if problem := self._reason_to_refuse(self._url):
            return ChannelAnswer(error=f"the webhook's address is refused: {problem}")
        request = WireRequest(
            url=self._url,
            headers=_HEADERS,
            timeout=TIMEOUT,
            max_bytes=MAX_ANSWER_BYTES,
            method="POST",
            content=msgspec.json.encode(slack_body(notice, repeated)),
        )
        return _answer(await self._transport.send(request, _no_wait))

    async def close(self) -> None:
        """Close connections."""
        await self._transport.close()


def _answer(answer: WireResponse | WireFailure) -> ChannelAnswer:
    if isinstance(answer, WireFailure):
        return ChannelAnswer(error=f"slack: {answer.failure}", may_have_come=answer.may_have_arrived)
    if answer.status_code // 100 == _OK_CLASS:
        return ChannelAnswer()
    words = f"slack answered {answer.status_code}"
    if answer.status_code == _TOO_MANY:
        return ChannelAnswer(error=words, retry_after=_retry_after(answer.headers.get("retry-after", "")))
    return ChannelAnswer(error=words, is_final=answer.status_code == _BAD_REQUEST)


def _retry_after(header: str) -> timedelta | None:
    """Return the wait that Slack asks for in seconds."""
    is_number = header.isascii() and header.isdigit()
    return min(timedelta(seconds=int(header[:MOST_DIGITS])), LONGEST_RETRY_AFTER) if is_number else None


async def _no_wait() -> None:
    """Return at once: the outbox spaces messages by itself."""
