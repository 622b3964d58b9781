"""What a spider keeps on itself from page to page, which does not carry over: each page is read by a new one."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from scrapy import Spider

_PLAIN = (int, float, str, list, set, dict)
_NUMBER = re.compile(r"\d+")
MOST_NAMED = 3


class SpiderState:
    """The plain values of a spider and of its classes as they were before a page was read."""

    def __init__(self, spider: Spider) -> None:
        """Copy them."""
        self._spider = spider
        own = type(spider).__mro__
        self._classes = [cls for cls in own if not cls.__module__.startswith("scrapy.") and cls is not object]
        self._before = {cls: _plain_values(vars(cls)) for cls in self._classes}
        self._numbers = dict(self._numbers_now())
        self._changed: dict[str, int] = {}

    def put_back(self) -> None:
        """Give the classes back what they held: what one page leaves there must not decide how another is read."""
        self._changed = {name: value for name, value in self._numbers_now() if self._numbers.get(name, value) != value}
        for cls, values in self._before.items():
            for name, value in values.items():
                if vars(cls).get(name) != value:
                    setattr(cls, name, value)

    def counters_in(self, addresses: Iterable[str]) -> list[str]:
        """Return the names of numbers that were changed while the page was read and stand in one of the addresses.

        Such a spider counts pages on itself; here every page would lead to the same next one.
        """
        if not self._changed:
            return []
        named = {number for each in addresses for number in _NUMBER.findall(each)}
        found = [name for name, value in self._changed.items() if {str(value), str(self._numbers[name])} & named]
        return sorted(found)[:MOST_NAMED]

    def _numbers_now(self) -> Iterator[tuple[str, int]]:
        for holder in (*reversed(self._classes), self._spider):
            for name, value in vars(holder).items():
                if type(value) is int:
                    yield name, value


def _plain_values(values: Any) -> dict[str, Any]:
    return {
        name: deepcopy(value)
        for name, value in values.items()
        if type(value) in _PLAIN and not name.startswith("__") and name != "custom_settings"
    }
