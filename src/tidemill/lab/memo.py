"""A bounded memory for answers that never change."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Remembers the last `limit` values; the oldest goes first, because the world only moves forward."""

    def __init__(self, limit: int) -> None:
        """Start empty."""
        self._limit = limit
        self._values: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value for `key`, made on first asking."""
        value = self._values.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def peek(self, key: Key) -> Value | None:
        """The value for `key` if it is remembered."""
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Remember `value`, forgetting the oldest if there is no room."""
        if key not in self._values and len(self._values) >= self._limit:
            del self._values[next(iter(self._values))]
        self._values[key] = value
