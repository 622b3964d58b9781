"""The dependencies of the stages: ports, and the verticals by name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from tidemill.core.breaker import Breaker
from tidemill.core.record import MOST_RECORDS
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind, Source
from tidemill.core.target import Target
from tidemill.core.vertical import Vertical
from tidemill.pipeline.fallback import Fallback
from tidemill.pipeline.ports import Clock, Fetcher, ServiceRegistry
from tidemill.pipeline.recovery import NormalizeEnrichment


class Keys(Protocol):
    """Primary keys that are known before their rows are written."""

    def take(self) -> int:
        """Return the next key."""
        ...


class BreakerStates(Protocol):
    """The breakers of sources, for the one probe at a time that may go."""

    async def admit(self, source_id: int, now: datetime) -> datetime | None:
        """Return None when the call may go now, else when to ask again."""
        ...


class CurrentState(NamedTuple):
    """A source, its target and its breaker at one moment."""

    source: Source
    target: Target
    breaker: Breaker


class SourceStates(Protocol):
    """The current state of sources, for a job that was claimed a while ago."""

    async def current(self, source_id: int, target_id: int) -> CurrentState | None:
        """Return the current source, target and breaker; None when the source or target was removed."""
        ...


class ManySourceStates(SourceStates, Protocol):
    """The same for many at once."""

    async def current_of(self, pairs: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], CurrentState]:
        """Return the states by the keys of source and target; those that were removed are left out."""
        ...


def always_current(_worker_id: int) -> bool:
    """Return True: the worker never loses its registration."""
    return True


@dataclass(frozen=True, slots=True)
class StageDependencies:
    """The dependencies of the stages; `is_current_worker` says whether this process still holds a worker's leases.

    `most_records` are taken from one page.
    """

    clock: Clock
    keys: Keys
    breakers: BreakerStates
    fetchers: Mapping[FetcherKind, Fetcher]
    verticals: Mapping[str, Vertical]
    services: ServiceRegistry
    source_states: SourceStates
    is_current_worker: Callable[[int], bool] = always_current
    fallback: Fallback | None = None
    enrichment: NormalizeEnrichment | None = None
    most_records: int = MOST_RECORDS

    @property
    def asks_model(self) -> bool:
        """Whether a language model is set up to be asked about records that rules dropped."""
        return self.enrichment is not None and Service.LLM in self.enrichment.services
