"""A function that readers run by its name: what it is asked and what it answers are typed, and travel as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.vertical import Vertical
from tidemill.pipeline.page_reading import UNWRITABLE, bug_failure, unwritable

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
Asked_contra = TypeVar("Asked_contra", contravariant=True)
Answered_co = TypeVar("Answered_co", covariant=True)

encode_json = msgspec.json.Encoder().encode


class RunFunction(Protocol[Asked_contra, Answered_co]):
    """The function itself: pure, and given the verticals whose adapters and rules it may need."""

    def __call__(self, asked: Asked_contra, verticals: Mapping[str, Vertical], /) -> Answered_co:
        """Return the answer."""
        ...


@dataclass(frozen=True, slots=True)
class ReaderFunction(Generic[Asked, Answered]):
    """A pure function over scraped text; `answer` is the type that its answers are decoded as.

    One that `is_quick` takes its turn among pages, before those that wait; others have a reader of their own and its
    full limits.
    """

    name: str
    asked: type[Asked]
    answer: Any
    run: RunFunction[Asked, Answered]
    is_quick: bool = False


class FunctionReaders(Protocol):
    """Runs functions over scraped text where that cannot hurt."""

    async def call(self, function: ReaderFunction[Asked, Answered], asked: Asked) -> Answered | Fail:
        """Return the answer, or why there is none: it took too much, or a bug of ours was met."""
        ...


class InlineReaders:
    """Runs functions at once where there are no reader processes: in virtual time, and in tests."""

    def __init__(self, verticals: Mapping[str, Vertical]) -> None:
        """`verticals` are what the functions may need."""
        self._verticals = verticals

    async def call(self, function: ReaderFunction[Asked, Answered], asked: Asked) -> Answered | Fail:
        """Return the answer, or the failure."""
        return run_function(function, asked, self._verticals)


def run_function(
    function: ReaderFunction[Asked, Answered], asked: Asked, verticals: Mapping[str, Vertical]
) -> Answered | Fail:
    """Return the answer of a function; a crash is a failure of this call only."""
    try:
        return function.run(asked, verticals)
    except MemoryError:
        return Fail(Failure.PAGE_TOO_HARD, "reading it takes more memory than a page may")
    except UNWRITABLE as error:
        return unwritable(error)
    except Exception as error:  # noqa: BLE001 - a bug of ours on one page must not cost the others
        return bug_failure(error)
