"""Many rows, a portion at a time: what a million of them cost in memory is what a thousand cost."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

AT_ONCE = 1_000


def portions(items: Iterable[Item], size: int = AT_ONCE) -> Iterator[list[Item]]:
    """The items in lists of `size`; the last may be shorter, and none is empty."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
