"""Boxes alike, side by side: how a page lists things."""

from collections import Counter

from selectolax.lexbor import LexborNode


def kind_of(node: LexborNode) -> str:
    """What makes two boxes alike: one tag, one first class."""
    names = (node.attributes.get("class") or "").split()
    return f"{node.tag}.{names[0] if names else ''}"


class Peers:
    """How many of its kind stand beside an element; each parent's children are counted once."""

    def __init__(self) -> None:
        """Nothing is counted before it is asked for."""
        self._counted: dict[int, Counter[str]] = {}

    def beside(self, node: LexborNode) -> int:
        """How many children of its parent are of the element's kind, itself included."""
        return self.within(node.parent)[kind_of(node)] if node.parent is not None else 1

    def within(self, parent: LexborNode) -> Counter[str]:
        """An element's children by their kind."""
        if parent.mem_id not in self._counted:
            self._counted[parent.mem_id] = Counter(kind_of(child) for child in parent.iter(include_text=False))
        return self._counted[parent.mem_id]
