"""Gemini over REST: one prompt in, JSON of a given shape out, with the tokens it used."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.pipeline.outside_services import ModelReply, NoAnswer, NoAnswerReason
from tidemill.services.client import Client


class _Part(msgspec.Struct, frozen=True):
    text: str = ""


class _Content(msgspec.Struct, frozen=True):
    parts: list[_Part] = []


class _Choice(msgspec.Struct, frozen=True, rename="camel"):
    content: _Content = _Content()
    finish_reason: str = ""


class _Usage(msgspec.Struct, frozen=True, rename="camel"):
    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _Generated(msgspec.Struct, frozen=True, rename="camel"):
    candidates: list[_Choice] = []
    usage_metadata: _Usage = _Usage()


_decode = msgspec.json.Decoder(_Generated).decode


class Gemini:
    """Sends `POST /v1beta/models/MODEL:generateContent`."""

    def __init__(self, base_url: str, key: str, model: str, *, timeout: timedelta = timedelta(seconds=60)) -> None:
        """Send the key in a header, because addresses end up in logs."""
        self._client = Client(base_url, {"x-goog-api-key": key}, timeout=timeout)
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    async def answer(self, prompt: str, shape: Mapping[str, Any], max_tokens: int) -> ModelReply | NoAnswer:
        """Return one reply as JSON; at temperature 0, because the same question should have the same answer."""
        body = {
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "generationConfig": {
                "temperature": 0,
                "maxOutputTokens": max_tokens,
                "responseMimeType": "application/json",
                "responseSchema": shape,
            },
        }
        content = await self._client.post(f"/v1beta/models/{self._model}:generateContent", body)
        return content if isinstance(content, NoAnswer) else read_reply(content)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def read_reply(content: bytes) -> ModelReply | NoAnswer:
    """Return the model's text and token counts; a reply that a filter stopped has no text."""
    try:
        generated = _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NoAnswer(NoAnswerReason.GARBAGE, "not the JSON that the API promises")
    usage = generated.usage_metadata
    text = "".join(part.text for choice in generated.candidates[:1] for part in choice.content.parts)
    tokens_out = max(0, usage.candidates_token_count) + max(0, usage.thoughts_token_count)
    return ModelReply(text.encode(), max(0, usage.prompt_token_count), tokens_out)
