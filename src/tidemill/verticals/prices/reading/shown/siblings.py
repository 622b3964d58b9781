"""Siblings with the same tag and class: how a page lists things."""

from collections import Counter

from selectolax.lexbor import LexborNode


def tag_and_class(node: LexborNode) -> str:
    """An element's tag and first class: siblings that share them are alike."""
    names = (node.attributes.get("class") or "").split()
    return f"{node.tag}.{names[0] if names else ''}"


class SiblingCounter:
    """Counts siblings with the same tag and class; each parent's children are counted once."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self._counted: dict[int, Counter[str]] = {}

    def count_like(self, node: LexborNode) -> int:
        """How many siblings share the element's tag and class, itself included."""
        return self.counts_in(node.parent)[tag_and_class(node)] if node.parent is not None else 1

    def counts_in(self, parent: LexborNode) -> Counter[str]:
        """An element's children, counted by tag and class."""
        if parent.mem_id not in self._counted:
            self._counted[parent.mem_id] = Counter(tag_and_class(child) for child in parent.iter(include_text=False))
        return self._counted[parent.mem_id]
