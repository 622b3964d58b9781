"""JSON in a page's scripts: a script that is JSON, or one that assigns it to a variable."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tidemill.reading.document import Document

_LARGEST = 2_000_000
_MOST_SCRIPTS = 40
_ASSIGNED = re.compile(r"(?:window\.|var |let |const |self\.)[A-Za-z_$][\w$.]{0,60} {0,4}= {0,4}(?=[{\[])")
_decoder = msgspec.json.Decoder()


def values_in_scripts(document: Document) -> Iterator[Any]:
    """Yield the JSON values in a page's scripts, in order."""
    for node in document.css("script")[:_MOST_SCRIPTS]:
        text = (node.text(deep=True) or "").strip()
        if node.attributes.get("src") or not text or len(text) > _LARGEST:
            continue
        found = _ASSIGNED.search(text[:2_000])
        given = text if text[0] in "{[" else text[found.end() :] if found else ""
        value = decoded(given.rstrip().rstrip(";"))
        if value is not None:
            yield value


def decoded(text: str | bytes) -> Any:
    """Return the JSON value of a text; None for a text that is none."""
    try:
        return _decoder.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
