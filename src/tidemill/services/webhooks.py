"""Webhooks: notices sent as signed POSTs, never to an address that the guard refuses."""

from collections.abc import Callable
from datetime import datetime, timedelta

from tidemill.pipeline.ports import Transport, WireFailure, WireRequest
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, signatures

TIMEOUT = timedelta(seconds=10)
MAX_ANSWER_BYTES = 64_000
"""Bytes of an answer that are read; only its status matters."""
LONGEST_ERROR = 200


class WebhookPost:
    """Sends deliveries over a transport whose sockets the address guard has judged."""

    def __init__(self, transport: Transport, reason_to_refuse: Callable[[str], str], user_agent: str) -> None:
        """`reason_to_refuse` returns why an address may not be called, '' if it may."""
        self._transport = transport
        self._reason_to_refuse = reason_to_refuse
        self._user_agent = user_agent

    async def send(self, delivery: Delivery, now: datetime) -> DeliveryAttempt:
        """Send one; a redirect is no answer, because it could lead anywhere."""
        if reason_to_refuse := self._reason_to_refuse(delivery.url):
            return DeliveryAttempt(delivery, 0, reason_to_refuse[:LONGEST_ERROR])
        timestamp = int(now.timestamp())
        request = WireRequest(
            url=delivery.url,
            headers={
                "User-Agent": self._user_agent,
                "Content-Type": "application/json",
                "Idempotency-Key": delivery.notice_key,
                "X-Tidemill-Timestamp": str(timestamp),
                "X-Tidemill-Signature": signatures(delivery, timestamp, now),
            },
            timeout=TIMEOUT,
            max_bytes=MAX_ANSWER_BYTES,
            method="POST",
            content=delivery.body,
        )
        answer = await self._transport.send(request, _no_wait)
        if isinstance(answer, WireFailure):
            words = f"{answer.failure}: {answer.detail}"[:LONGEST_ERROR]
            return DeliveryAttempt(delivery, 0, words, may_have_arrived=answer.may_have_arrived)
        sent = DeliveryAttempt(delivery, answer.status_code)
        return (
            sent
            if sent.is_accepted
            else DeliveryAttempt(delivery, answer.status_code, f"answered {answer.status_code}")
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()


async def _no_wait() -> None:
    """Return at once: webhooks are not paced, for subscribers asked for them."""
