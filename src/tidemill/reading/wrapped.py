"""Answers in JSON that carry a page: JSON-LD by itself, or HTML in a string, as calendars load theirs."""

from typing import Any

import msgspec

_SHORTEST_MARKUP = 20
_MOST_VALUES = 200_000

_decode = msgspec.json.Decoder().decode


def may_wrap(body: bytes) -> bool:
    """Whether the body begins as JSON does."""
    return body[:1] in {b"{", b"["}


def unwrapped(body: str) -> str:
    """The body as markup: itself, unless it is JSON; then its text as JSON-LD, and whatever markup its strings hold."""
    if body[:1] not in {"{", "["}:
        return body
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return body
    data = body.replace("</", "<\\/")  # as JSON may spell it, so that no string ends the script
    return "\n".join([f'<script type="application/ld+json">{data}</script>', *_markup_in(value)])


def _markup_in(value: Any) -> list[str]:
    found: list[str] = []
    pending = [value]
    for _ in range(_MOST_VALUES):
        if not pending:
            break
        current = pending.pop()
        if isinstance(current, str):
            if len(current) >= _SHORTEST_MARKUP and "</" in current:
                found.append(current)
        elif isinstance(current, dict):
            pending.extend(reversed(current.values()))
        elif isinstance(current, list):
            pending.extend(reversed(current))
    return found
