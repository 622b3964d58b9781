"""Webhooks: notices sent as signed POSTs, never to an address that the guard refuses."""

from collections.abc import Callable
from datetime import datetime, timedelta

from tidemill.pipeline.ports import Transport, WireFailure, WireRequest
from tidemill.pipeline.webhooks import Delivery, DeliveryAttempt, signature

PATIENCE = timedelta(seconds=10)
LARGEST_ANSWER = 64_000
"""Bytes of an answer that are read; only its status matters."""
LONGEST_WORDS = 200


class WebhookPost:
    """Sends deliveries over a transport whose sockets the address guard has judged."""

    def __init__(self, transport: Transport, refusal: Callable[[str], str], user_agent: str) -> None:
        """`refusal` says why an address may not be called, '' if it may."""
        self._transport = transport
        self._refusal = refusal
        self._user_agent = user_agent

    async def send(self, delivery: Delivery, now: datetime) -> DeliveryAttempt:
        """Send one; a redirect is no answer, because it could lead anywhere."""
        if refusal := self._refusal(delivery.url):
            return DeliveryAttempt(delivery, 0, refusal[:LONGEST_WORDS])
        timestamp = int(now.timestamp())
        request = WireRequest(
            url=delivery.url,
            headers={
                "User-Agent": self._user_agent,
                "Content-Type": "application/json",
                "Idempotency-Key": delivery.notice_key,
                "X-Tidemill-Timestamp": str(timestamp),
                "X-Tidemill-Signature": "sha256=" + signature(delivery.secret, timestamp, delivery.body),
            },
            timeout=PATIENCE,
            max_bytes=LARGEST_ANSWER,
            method="POST",
            content=delivery.body,
        )
        answer = await self._transport.send(request, _at_once)
        if isinstance(answer, WireFailure):
            return DeliveryAttempt(delivery, 0, f"{answer.failure}: {answer.detail}"[:LONGEST_WORDS])
        sent = DeliveryAttempt(delivery, answer.status_code)
        return (
            sent
            if sent.is_accepted
            else DeliveryAttempt(delivery, answer.status_code, f"answered {answer.status_code}")
        )

    async def close(self) -> None:
        """Let go of sockets."""
        await self._transport.close()


async def _at_once() -> None:
    """Subscribers are not paced: they asked to be told."""
