"""What a page says now and said before: its visible lines, compared."""

from difflib import SequenceMatcher

import msgspec

from tidemill.reading.document import Document, visible_strings
from tidemill.reading.text import squash

MOST_LINES = 1_500
"""Lines of each page that are compared: comparing takes the product of both."""
LONGEST_LINE = 300
AROUND = 1
MOST_CHANGES = 400


class TextChange(msgspec.Struct, frozen=True):
    """A line: `sign` is `+` for one that is new, `-` for one that is gone, ' ' for one that stands around them."""

    sign: str
    line: str


def changed_lines(before: Document, after: Document) -> list[TextChange]:
    """Return the lines that differ with one around them; nothing if the pages say the same."""
    old, new = _lines(before), _lines(after)
    found: list[TextChange] = []
    for group in SequenceMatcher(None, old, new, autojunk=True).get_grouped_opcodes(AROUND):
        for kind, from_old, to_old, from_new, to_new in group:
            if kind == "equal":
                found += [TextChange(" ", line) for line in old[from_old:to_old]]
                continue
            found += [TextChange("-", line) for line in old[from_old:to_old]]
            found += [TextChange("+", line) for line in new[from_new:to_new]]
        if len(found) > MOST_CHANGES:
            return found[:MOST_CHANGES]
    return found


def _lines(document: Document) -> list[str]:
    strings = visible_strings(document.bounded_tree.root)
    return [squash(each)[:LONGEST_LINE] for each in strings[:MOST_LINES]]
