"""A stand-in for Gemini: `generateContent` with a key, a reply in JSON, and a bill in tokens."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply, json_reply
from tidemill.lab.standins.unwell import refusal

Thought = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""What the model makes of one entry of a prompt; its own `id` is added."""

_PATH = re.compile(r"/v1beta/models/([\w.-]+):generateContent")
_CHARACTERS_PER_TOKEN = 4


class _StandinPart(msgspec.Struct):
    text: str


class _StandinContent(msgspec.Struct):
    parts: list[_StandinPart]


class _GeminiQuestion(msgspec.Struct):
    contents: list[_StandinContent]


def plain_thought(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A modest model: everything is social, no day can be told, and what names dates is an agenda."""
    if "kind" not in entry:
        return {"is_agenda": bool(re.search(r"\d", str(entry.get("text", "")))), "sureness": 0.9}
    return {"value": "social" if entry["kind"] == "category" else "", "sureness": 0.8}


class GeminiStandin:
    """Answers as generativelanguage.googleapis.com does.

    `entries` holds everything it was asked about; `babbles` lets it answer well-formed nonsense, as models do.
    """

    def __init__(self, think: Thought = plain_thought, key: str = "gemini-key") -> None:
        """`think` is what it makes of one entry."""
        self._think = think
        self._key = key
        self.entries: list[Mapping[str, Any]] = []
        self.calls = 0
        self.fault = StandinFault.NONE
        self.babbles = False

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        del now
        if (trouble := refusal(self.fault, call.headers.get("x-goog-api-key"), self._key)) is not None:
            return trouble
        if call.method != "POST" or not _PATH.fullmatch(call.path):
            return json_reply({"error": {"code": 404, "status": "NOT_FOUND"}}, 404)
        self.calls += 1
        prompt = msgspec.json.decode(call.content, type=_GeminiQuestion).contents[0].parts[0].text
        text = "As a language model, I think that" if self.babbles else self._thoughts(prompt)
        usage = {
            "promptTokenCount": len(prompt) // _CHARACTERS_PER_TOKEN,
            "candidatesTokenCount": len(text) // _CHARACTERS_PER_TOKEN,
        }
        choice = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
        return json_reply({"candidates": [choice], "usageMetadata": usage})

    def _thoughts(self, prompt: str) -> str:
        entries = [msgspec.json.decode(line) for line in prompt.splitlines() if line.startswith('{"id":')]
        self.entries += entries
        answers = [{"id": entry["id"], **self._think(entry)} for entry in entries]
        return msgspec.json.encode({"answers": answers}).decode()
