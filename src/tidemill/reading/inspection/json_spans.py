"""Where in a text of JSON a value stands: its first and last character, found by its path without decoding it all."""

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_BLANK = re.compile(r"[\s,:]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,:\[\]{}\"]+")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)
"""A string that is never closed goes on to the end: else it would be looked for again from each quote inside it."""


def value_end(text: str, begins: int) -> int:
    """Return where the value that begins here ends; -1 where none does."""
    first = text[begins : begins + 1]
    if first == '"':
        found = _STRING.match(text, begins)
        return found.end() if found else -1
    if first not in {"{", "["}:
        found = _PLAIN.match(text, begins)
        return found.end() if found else -1
    depth = 0
    for token in _TOKENS.finditer(text, begins):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return -1


def members(text: str, begins: int) -> Iterator[tuple[str, Span]]:
    """Yield the keys of the object, or the indexes of the list, that begins here, each with the span of its value."""
    is_object, position, index = text[begins : begins + 1] == "{", begins + 1, 0
    if not is_object and text[begins : begins + 1] != "[":
        return
    while True:
        position = _skip_blank(text, position)
        key = str(index)
        if is_object:
            named = _STRING.match(text, position)
            if named is None:
                return
            key, position = named[0][1:-1], _skip_blank(text, named.end())
        ends = value_end(text, position)
        if ends < 0:
            return
        yield key, (position, ends)
        position, index = ends, index + 1


def at_path(text: str, begins: int, path: Sequence[str]) -> Span | None:
    """Return the span of the value that a path leads to, from the value that begins here.

    Keys are compared without case. Where the path names a key and the value is a list, its first member that has the
    key is meant: that is how readers look into a list of one.
    """
    span = (begins, value_end(text, begins))
    if span[1] < 0:
        return None
    for number, key in enumerate(path):
        found = next((inner for name, inner in members(text, span[0]) if name.casefold() == key.casefold()), None)
        if found is None and text[span[0] : span[0] + 1] == "[" and not key.isdecimal():
            inner = (at_path(text, one[0], path[number:]) for _, one in members(text, span[0]))
            return next((each for each in inner if each is not None), None)
        if found is None:
            return None
        span = found
    return span


def _skip_blank(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position
