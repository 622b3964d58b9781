"""Mending JSON that sites get wrong: comments, stray commas, line breaks, words like NaN, wrappers, cut-off blocks."""

import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tidemill.reading.text import decoded

_MOST_PIECES = 2_000
_DEEPEST_PIECE = 24
"""Levels of braces at which pieces are tried: each level costs at most one more reading of the block."""
_OPENING = re.compile(r"(?:(?://|/\*)\s{0,8})?(?:<!--|<!\[CDATA\[)(?:\s{0,8}\*/)?")
_CLOSING = re.compile(r"(?:(?://|/\*)\s{0,8})?(?:-->|\]\]>)(?:\s{0,8}\*/)?$")
_LONGEST_CLOSING = 40
_LONGEST_NUMBER = 300
_STRING = r'(?P<string>"(?:[^"\\]++|\\.)*+(?P<closed>")?+)'
_OTHER_TOKENS = (
    r"(?P<comment>//[^\n\r]*+|/\*.*?\*/|<!--.*?-->)"
    r"|(?P<comma>,(?=(?:\s++|//[^\n\r]*+[\n\r]|/\*(?>.*?\*/))*+[}\]]|\s*+$))"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00a0\ufeff\u2028\u2029]+)"
    r"|(?<![\w.$-])(?P<word>-?(?:NaN|Infinity)|undefined|None|True|False)(?![\w.$])"
    r"|(?<![\w.$+-])(?P<number>-?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w.$])"
)
_TOKEN = re.compile(f"{_STRING}|{_OTHER_TOKENS}", re.DOTALL)
_TOKEN_OUTSIDE_STRINGS = re.compile(_OTHER_TOKENS, re.DOTALL)
_IN_STRING = re.compile(r"[\x00-\x1f]|\\(?![\"\\/bfnrtu])|\\u(?![0-9a-fA-F]{4})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_BRACES = re.compile(f"{_STRING}|(?P<brace>[{{}}])", re.DOTALL)
_BRACES_OUTSIDE_STRINGS = re.compile(r"(?P<brace>[{}])")
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_decode = msgspec.json.Decoder().decode


def repaired_values(body: str) -> list[Any]:
    """The values of a block that is not JSON: one if all of it could be repaired, else its valid pieces."""
    text = _unwrapped(_unwrapped(body)).rstrip(";")
    if not text:
        return []
    if '"' not in text and "&quot;" in text:
        text = decoded(text)
    cleaned = _mended(_with_comments_closed(text)).removesuffix("*/").removesuffix("-->")
    whole = _decoded(cleaned)
    return [whole] if whole is not None else _sound_pieces(cleaned)


def _unwrapped(body: str) -> str:
    """The text without the comment or CDATA marks that once hid scripts from old browsers."""
    text = body.strip()
    opening = _OPENING.match(text)
    if opening is not None:
        text = text[opening.end() :]
    closing = _CLOSING.search(text, max(0, len(text) - _LONGEST_CLOSING))
    return text[: closing.start()].strip() if closing is not None else text.strip()


def _with_comments_closed(text: str) -> str:
    """The text with a closing mark for a comment that has none: else each opening one would be read to the end."""
    for opens, closes in (("<!--", "-->"), ("/*", "*/")):
        if text.rfind(opens) > text.rfind(closes):
            text += closes
    return text


def _mended(text: str) -> str:
    """The text with every token mended, read once from its beginning to its end."""
    pieces: list[str] = []
    reached = 0
    for match in _tokens(text, _TOKEN, _TOKEN_OUTSIDE_STRINGS):
        pieces += (text[reached : match.start()], _mend_token(match))
        reached = match.end()
    return "".join((*pieces, text[reached:]))


def _tokens(text: str, tokens: re.Pattern[str], outside_strings: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The tokens of a text; a string that never ends is no token, and no other begins behind its quote.

    All quotes behind it are escaped, so that a string begun at one of them would not end either: none is tried, as
    each would be read to the end of the text.
    """
    for match in tokens.finditer(text):
        if match["string"] and not match["closed"]:
            yield from outside_strings.finditer(text, match.start() + 1)
            return
        yield match


def _mend_token(match: re.Match[str]) -> str:
    if match.groupdict().get("string"):
        return _mend_string(match[0])
    if match["word"]:
        return {"True": "true", "False": "false"}.get(match[0], "null")
    if match["number"]:
        return _mend_number(match[0])
    return " " if match["control"] else ""


def _mend_number(number: str) -> str:
    """The number as JSON has it; one that no computer holds is none, and costs its neighbours nothing."""
    if len(number) > _LONGEST_NUMBER or not math.isfinite(float(number)):
        return "null"
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, point, rest = digits.partition(".")
    if point and not rest[:1].isdigit():
        return f"{sign}{whole}{rest}"
    return f"{sign}{whole or '0'}{point}{rest}"


def _mend_string(string: str) -> str:
    """The string with line breaks and other controls written as escapes, and escapes that JSON lacks undone."""
    if "\\" not in string and string.isprintable():
        return string
    pairs = {match.start() for match in _PAIR.finditer(string)}
    halves = pairs | {start + 6 for start in pairs}
    return _IN_STRING.sub(lambda match: _mend_character(match, halves), string)


def _mend_character(match: re.Match[str], sound: set[int]) -> str:
    found = match[0]
    if found == "\\":
        return ""
    if found == "\\u":
        return "u"
    if found.startswith("\\u"):
        return found if match.start() in sound else "\\ufffd"
    return _WRITTEN.get(found, "")


def _sound_pieces(text: str) -> list[Any]:
    """The outermost objects that decode, of a block that does not: cut short, glued together, or with one bad item."""
    pieces: list[Any] = []
    reached = 0
    for begins, ends in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if begins < reached:
            continue
        value = _decoded(text[begins:ends])
        if value is not None:
            pieces.append(value)
            reached = ends
    return pieces


def _spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _tokens(text, _BRACES, _BRACES_OUTSIDE_STRINGS):
        if match["brace"] == "{":
            opened.append(match.start())
        elif match["brace"] == "}" and opened:
            begins = opened.pop()
            if len(opened) < _DEEPEST_PIECE:
                spans.append((begins, match.end()))
            if len(spans) >= _MOST_PIECES:
                break
    return spans


def _decoded(text: str) -> Any:
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
