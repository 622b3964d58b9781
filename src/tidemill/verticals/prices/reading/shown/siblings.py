"""Boxes alike, side by side: how a page lists things."""

from collections import Counter

from selectolax.lexbor import LexborNode


def tag_and_class(node: LexborNode) -> str:
    """What makes two boxes alike: one tag, one first class."""
    names = (node.attributes.get("class") or "").split()
    return f"{node.tag}.{names[0] if names else ''}"


class SiblingCounter:
    """How many of its kind stand beside an element; each parent's children are counted once."""

    def __init__(self) -> None:
        """Nothing is counted before it is asked for."""
        self._counted: dict[int, Counter[str]] = {}

    def count_like(self, node: LexborNode) -> int:
        """How many children of its parent are of the element's kind, itself included."""
        return self.counts_in(node.parent)[tag_and_class(node)] if node.parent is not None else 1

    def counts_in(self, parent: LexborNode) -> Counter[str]:
        """An element's children by their kind."""
        if parent.mem_id not in self._counted:
            self._counted[parent.mem_id] = Counter(tag_and_class(child) for child in parent.iter(include_text=False))
        return self._counted[parent.mem_id]
