"""Which words of a page stand on one line with an amount: those of its string, and of its block."""

from selectolax.lexbor import LexborNode

from tidemill.verticals.prices.reading.shown.labelled_fields import leads_to_brand
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout


def line_before(layout: PageLayout, index: int, node: LexborNode, label: str) -> str:
    """The words before a price on its own line: in its string, or in the one before it within the same block."""
    earlier = [each for each in layout.texts[max(0, index - 2) : index] if each.text == label]
    if not label.strip() or not earlier:
        return label
    if leads_to_brand(earlier[-1].href):
        return ""
    return label if block_at(earlier[-1].node) == block_at(node) else ""


def block_at(node: LexborNode | None) -> int:
    """The block that a node stands in: what is in one stands on one line, or may."""
    block = _block_of(node)
    return block.mem_id if block is not None else 0


def _block_of(node: LexborNode | None) -> LexborNode | None:
    while node is not None and node.tag in _INLINE:
        node = node.parent
    return node


def is_prose(node: LexborNode) -> bool:
    """Whether it stands in a paragraph or a row, where words before it are about it."""
    block = _block_of(node)
    return block is not None and block.tag in {"p", "li", "td", "th", "dd"}


_INLINE = frozenset(
    "span b strong em i a small sup sub font bdi ins u mark label input".split()  # noqa: SIM905 - a table of words
)
