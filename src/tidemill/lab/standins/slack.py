"""A stand-in for Slack's incoming webhooks: one address, blocks within its limits, and the ways in which it fails."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply
from tidemill.lab.standins.unwell import FAULTS

PATH = "/services/T000/B000/secret"
MOST_BLOCKS = 50
LONGEST_TEXT = 3_000
LONGEST_HEADER = 150
PACE = timedelta(seconds=1)


class SlackStandin:
    """Answers as hooks.slack.com does; `messages` holds what it took, with when.

    `is_gone` answers as an archived channel does. Faster than a message a second is answered with 429, `retry_after`
    seconds.
    """

    def __init__(self, path: str = PATH) -> None:
        """Start well."""
        self._path = path
        self.messages: list[tuple[datetime, dict[str, Any]]] = []
        self.asked: list[datetime] = []
        self.fault = StandinFault.NONE
        self.is_gone = False
        self.retry_after = 30

    @property
    def titles(self) -> list[str]:
        """The titles of what it took, in order."""
        return [message["text"] for _, message in self.messages]

    @property
    def texts(self) -> list[str]:
        """All words of each message that it took, in order."""
        return ["\n".join(block["text"]["text"] for block in message["blocks"]) for _, message in self.messages]

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Take a message, or say why not."""
        too_fast = bool(self.asked) and now - self.asked[-1] < PACE
        self.asked.append(now)
        if self.is_gone or call.path != self._path:
            return StandinReply(404, b"no_service")
        if too_fast or self.fault is StandinFault.RATE_LIMITED:
            return StandinReply(429, b"rate_limited", {"retry-after": str(self.retry_after)})
        if self.fault is not StandinFault.NONE:
            return FAULTS[self.fault]
        message = msgspec.json.decode(call.content)
        if not is_acceptable(message):
            return StandinReply(400, b"invalid_blocks")
        self.messages.append((now, message))
        return StandinReply(200, b"ok")


def is_acceptable(message: dict[str, Any]) -> bool:
    """Return whether a message keeps to Slack's limits."""
    blocks = message.get("blocks", [])
    longest = {"header": LONGEST_HEADER, "section": LONGEST_TEXT}
    fits = all(0 < len(block["text"]["text"]) <= longest[block["type"]] for block in blocks)
    return bool(message.get("text")) and 0 < len(blocks) <= MOST_BLOCKS and fits
