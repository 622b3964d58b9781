"""How sources, targets and breakers stand, for polls: read together every two seconds, not before each."""

from collections.abc import Callable, Iterable
from datetime import timedelta

from tidemill.pipeline.dependencies import CurrentState, ManySourceStates
from tidemill.pipeline.ports import StoreLost

READ_EVERY = timedelta(seconds=2)
"""So long after a source was switched off its pages may still be polled."""

Pair = tuple[int, int]
"""A source's key and its target's."""


class PolledStates:
    """Implements `SourceStates` for pages that are polled. While the database is away the last answer holds."""

    def __init__(self, inner: ManySourceStates) -> None:
        """Read from `inner`."""
        self._inner = inner
        self._states: dict[Pair, CurrentState | None] = {}

    async def current(self, source_id: int, target_id: int) -> CurrentState | None:
        """Return the state as it was last read; one that was never asked for is read now."""
        pair = (source_id, target_id)
        if pair not in self._states:
            self._states[pair] = await self._inner.current(source_id, target_id)
        return self._states[pair]

    async def refresh(self, pairs: Iterable[Pair], changed: Callable[[Pair, CurrentState | None], None]) -> None:
        """Read the states of these pairs again, forget all others, and tell which have changed."""
        wanted = list(dict.fromkeys(pairs))
        try:
            found = await self._inner.current_of(wanted)
        except StoreLost:
            return
        before, self._states = self._states, {pair: found.get(pair) for pair in wanted}
        for pair, state in self._states.items():
            if pair not in before or before[pair] != state:
                changed(pair, state)
