"""Text as pages hold it, made fit to keep: one line or several, no markup, no control characters, bounded."""

import re
from html import unescape

BLOCK_LIMIT = 2_000
"""Characters of markup or JSON that a raw record keeps of the block it came from."""

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_HIDDEN = re.compile(
    r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)", re.IGNORECASE | re.DOTALL
)
_BREAK = re.compile(r"<\s{0,9}(?:br|/p|/div|/li|/h[1-6]|/tr)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
_ENDLESS_NUMBER = re.compile(r"&#[xX]?[0-9a-fA-F]{20,};?")
"""No character has such a number, and Python refuses to read one of thousands of digits."""
_FILLERS = " \u115f\u1160\u2800\u3164\uffa0"
"""Characters that count as letters and that nobody sees: words of nothing else are none."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def squash(text: str) -> str:
    """One line: every run of white space is one blank, control characters and half surrogates are gone."""
    line = text.strip()
    if line.isprintable() and "  " not in line:
        return line if line.strip(_FILLERS) else ""
    line = " ".join(line.split())
    if line.isprintable():
        return line
    return " ".join(_SURROGATE.sub("\ufffd", _CONTROLS.sub("", line)).split())


def strip_tags(text: str) -> str:
    """Markup's own words: tags gone, entities decoded; ends of blocks still part words."""
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", _HIDDEN.sub(" ", text)))
    return decoded(text)


def decoded(text: str) -> str:
    """The text with its entities decoded, whatever they are."""
    return unescape(_ENDLESS_NUMBER.sub("\ufffd", text)) if "&" in text else text


def plain(text: str, limit: int = 0) -> str:
    """One line of plain text out of text that may hold markup and entities, cut at `limit` characters (0: not).

    Entities are decoded once more after the tags went, since sites escape their markup twice.
    """
    if "<" in text or "&" in text:
        text = strip_tags(strip_tags(text))
    text = squash(text)
    return bounded(text, limit) if 0 < limit < len(text) else text


def bounded(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words where that costs little, with an ellipsis where cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 3 // 4 else cut).rstrip(" ,;:-") + "…"


def block_of(markup: str) -> str:
    """The piece of the page that a record keeps as its block."""
    return markup if len(markup) <= BLOCK_LIMIT else markup[:BLOCK_LIMIT]
