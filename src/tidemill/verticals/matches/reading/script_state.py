"""JSON in a page's scripts: a script that is JSON, or one that assigns it to a variable, plain or as a quoted text."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tidemill.reading.document import Document

_LARGEST = 2_000_000
_MOST_SCRIPTS = 40
_ASSIGNED = re.compile(
    r"""(?:window\.|var |let |const |self\.|window\[["'])[A-Za-z_$][\w$.]{0,60}(?:["']\])? {0,4}= {0,4}"""
    r"""(?:(?P<quoted>JSON\.parse\( {0,4}(?="))|(?=[{\[]))"""
)
_decoder = msgspec.json.Decoder()


def values_in_scripts(document: Document) -> Iterator[Any]:
    """Yield the JSON values in a page's scripts, in order."""
    for node in document.css("script")[:_MOST_SCRIPTS]:
        text = (node.text(deep=True) or "").strip()
        if node.attributes.get("src") or not text or len(text) > _LARGEST:
            continue
        value = decoded(text.rstrip(";")) if text[0] in "{[" else _assigned(text)
        if value is not None:
            yield value


def _assigned(text: str) -> Any:
    """Return the value that a script assigns first; statements may follow it."""
    found = _ASSIGNED.search(text[:2_000])
    if found is None:
        return None
    value = _leading(text[found.end() :])
    return decoded(value) if found["quoted"] and isinstance(value, str) else value


def _leading(text: str) -> Any:
    """Return the JSON value that a text begins with; None if it begins with none."""
    value = decoded(text.rstrip().rstrip(";"))
    if value is not None:
        return value
    try:
        value, _ = _lenient.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def _no_number(word: str) -> Any:
    msg = f"{word} is no JSON"
    raise ValueError(msg)


_lenient = json.JSONDecoder(parse_constant=_no_number)


def decoded(text: str | bytes) -> Any:
    """Return the JSON value of a text; None for a text that is none."""
    try:
        return _decoder.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
