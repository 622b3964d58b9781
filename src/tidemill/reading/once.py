"""Attributes that are computed when somebody first asks for them, without a lock."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801 - used as a decorator
    """A property whose value is kept on the instance after its first use.

    `functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes, so that
    one page's slow tree would hold up every other page's. Here two threads that ask at once both compute, and get
    equal values; pages are immutable, so that does no harm.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        """Keep the function that computes the value."""
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Compute the value and keep it under the same name, where Python finds it before this descriptor."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
