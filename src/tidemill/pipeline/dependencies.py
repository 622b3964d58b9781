"""What a stage may use besides its job: ports, and the verticals by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from tidemill.core.breaker import Breaker
from tidemill.core.source import FetcherKind, Source
from tidemill.core.target import Target
from tidemill.core.vertical import Vertical
from tidemill.pipeline.fallback import Fallback
from tidemill.pipeline.hints import EnrichmentHints
from tidemill.pipeline.ports import Clock, Fetcher, ServiceRegistry


class Keys(Protocol):
    """Keys for rows, known before they are written."""

    def take(self) -> int:
        """The next key."""
        ...


class BreakerStates(Protocol):
    """Where a source that is not trusted asks for its one probe."""

    async def admit(self, source_id: int, now: datetime) -> datetime | None:
        """None when the call may go now; else the moment at which to ask again."""
        ...


class CurrentState(NamedTuple):
    """A source, its target and its breaker as they stand at a moment."""

    source: Source
    target: Target
    breaker: Breaker


class SourceStates(Protocol):
    """Tells how things stand now, for those who were told a while ago."""

    async def look(self, source_id: int, target_id: int) -> CurrentState | None:
        """The source, target and breaker as they stand now; None when one of the two was removed."""
        ...


def always(_worker_id: int) -> bool:
    """What a worker that cannot be given up says about its leases."""
    return True


@dataclass(frozen=True, slots=True)
class StageDependencies:
    """The ports that stages use; `holds` says whether this process still is that worker, as far as it can know."""

    clock: Clock
    keys: Keys
    breakers: BreakerStates
    fetchers: Mapping[FetcherKind, Fetcher]
    verticals: Mapping[str, Vertical]
    services: ServiceRegistry
    standing: SourceStates
    holds: Callable[[int], bool] = always
    fallback: Fallback | None = None
    aid: EnrichmentHints | None = None
