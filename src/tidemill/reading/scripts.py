"""Where in a page its JSON-LD stands, found by a search for text: parsing the page would cost more than reading it."""

from collections.abc import Iterator

_LONGEST_TAG = 400
_MARK = b"ld+json"
_BEFORE_PLUS = _MARK.index(b"+")


def data_spans(markup: bytes) -> Iterator[tuple[int, int]]:
    """Where each JSON-LD script's content begins and ends; what an HTML comment hides is not on the page."""
    at = _mark(markup, 0)
    while at >= 0:
        opened = _opening(markup, at)
        begins = markup.find(b">", at) + 1
        if opened >= 0 and begins and not _commented_out(markup, opened):
            ends = _closing(markup, begins)
            yield begins, ends
            at = _mark(markup, ends)
        else:
            at = _mark(markup, at + len(_MARK))


def _mark(markup: bytes, start: int) -> int:
    """Where the next mark stands; none stands before a plus, which few pages hold and which is found in no time."""
    plus = markup.find(b"+", start)
    return markup.find(_MARK, max(start, plus - _BEFORE_PLUS)) if plus >= 0 else -1


def _opening(markup: bytes, at: int) -> int:
    """Where the script tag opens whose attribute stands at `at`; -1 if it is no attribute of one."""
    earliest = max(0, at - _LONGEST_TAG)
    opened = max(markup.rfind(b"<script", earliest, at), markup.rfind(b"<SCRIPT", earliest, at))
    return opened if opened >= 0 and markup.find(b">", opened, at) < 0 else -1


def _closing(markup: bytes, begins: int) -> int:
    ends = markup.find(b"<", begins)  # seldom inside JSON, and one character is found at a tenth of a word's cost
    if ends >= 0 and markup.startswith(b"</script", ends):
        return ends
    ends = markup.find(b"</script", begins)
    if ends < 0:
        ends = markup.find(b"</SCRIPT", begins)
    return ends if ends >= 0 else len(markup)


def _commented_out(markup: bytes, at: int) -> bool:
    marked = markup.rfind(b"!", 0, at)  # one character again: seldom is there any but the doctype's
    opened = markup.rfind(b"<!--", 0, marked + len(b"!--")) if marked >= 0 else -1
    return opened >= 0 and markup.find(b"-->", opened, at) < 0 and b"<script" not in markup[opened:at]
