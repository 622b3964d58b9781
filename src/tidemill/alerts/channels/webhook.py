"""A webhook of the operator's own: notices as JSON, signed as webhooks of prices are."""

from datetime import datetime

import msgspec

from tidemill.alerts.ports import ChannelAnswer
from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.services.degradation import Service
from tidemill.pipeline.webhooks import Delivery, WebhookTransport

_BAD_REQUEST = 400


class WebhookChannel:
    """Posts notices, signed with a secret that both sides know."""

    name = "webhook"
    service = Service.ALERT_WEBHOOK

    def __init__(self, url: str, secret: str, post: WebhookTransport) -> None:
        """`post` sends only to addresses that the guard allows."""
        self._url = url
        self._secret = secret
        self._post = post

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:
        """Post a notice; its key goes along, so that the other side can tell a message that came twice."""
        body = msgspec.json.encode({**msgspec.to_builtins(notice), "may_have_come_before": bool(repeated)})
        delivery = Delivery(
            id=0, subscription_id=0, notice_key=notice.key, url=self._url, secret=self._secret, body=body, attempts=0
        )
        attempt = await self._post.send(delivery, now)
        if attempt.is_accepted:
            return ChannelAnswer()
        words = f"answered {attempt.code}" if attempt.code else (attempt.error.split(":", 1)[0] or "no answer")
        return ChannelAnswer(
            error=f"webhook: {words}", is_final=attempt.code == _BAD_REQUEST, may_have_come=attempt.may_have_arrived
        )

    async def close(self) -> None:
        """Leave the transport to its owner."""
