"""Elements within elements of the same kind: what is gone through for each of them is gone through so many times."""

from collections.abc import Sequence

from selectolax.lexbor import LexborNode


def shallow(nodes: Sequence[LexborNode], most: int) -> list[LexborNode]:
    """Return the nodes that lie in fewer than `most` others of them; all are given in document order."""
    if len(nodes) <= most:
        return list(nodes)
    nesting: dict[int, int] = {}
    return [node for node in nodes if _lies_in(node, nesting) < most]


def _lies_in(node: LexborNode, nesting: dict[int, int]) -> int:
    """Return how many of the nodes this one lies in; `nesting` knows it of every element that was met so far."""
    path = []
    above = node.parent
    while above is not None and above.mem_id not in nesting:
        path.append(above.mem_id)
        above = above.parent
    around = nesting[above.mem_id] if above is not None else 0
    nesting.update(dict.fromkeys(path, around))
    nesting[node.mem_id] = around + 1
    return around
