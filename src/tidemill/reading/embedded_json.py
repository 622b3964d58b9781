"""The JSON values that a script holds: all of it, or what it assigns and hands to calls."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

_MOST_STARTS = 12
_decode = msgspec.json.Decoder().decode
_START = re.compile(r"[=(:]\s*(?=[\[{])")


def values_in(text: str) -> Iterator[Any]:
    """The JSON values in a script: all of it, or what begins at its first brackets after an equals sign or a call."""
    stripped = text.strip().removesuffix(";")
    try:
        yield _decode(stripped)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    else:
        return
    if "JSON.parse" in text:
        yield from _parsed_strings(text)
    reached = 0
    for _ in range(_MOST_STARTS):
        match = _START.search(text, reached)
        if match is None:
            return
        end = _balanced(text, match.end())
        if end < 0:
            return
        try:
            yield _decode(text[match.end() : end])
            reached = end
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            reached = match.end() + 1


_PARSED = re.compile(r"""JSON\.parse\(\s*("(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')""", re.DOTALL)


def _parsed_strings(text: str) -> Iterator[Any]:
    """The values that a script keeps as strings and parses itself."""
    for _, match in zip(range(_MOST_STARTS), _PARSED.finditer(text), strict=False):
        literal = match[1]
        if literal[0] == "'":
            literal = f'"{literal[1:-1].replace(chr(92) + chr(39), chr(39)).replace(chr(34), chr(92) + chr(34))}"'
        try:
            yield _decode(_decode(literal))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError, TypeError):
            continue


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)
"""A string that is never closed goes on to the end: else it would be looked for again from each quote inside it."""


def _balanced(text: str, begins: int) -> int:
    depth = 0
    for match in _TOKENS.finditer(text, begins):
        found = match[0]
        if found in "[{":
            depth += 1
        elif found in "]}":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1
