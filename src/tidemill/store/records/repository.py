"""What the ledger asks of a vertical's own tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.run import RunStatus
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts

KEYS_PER_RECORD = 5
"""Keys that storing a record may take: its row, a row beside it, what it stands for, its history, and a rejection."""
MOST_MISSED = 5_000
"""Records that one run's end counts against at most; the others have the next run's end."""


class CompleteRun(msgspec.Struct, frozen=True):
    """A complete run at its end: what its source has that was not seen since it started, it did not see."""

    run_id: int
    source_id: int
    since: datetime


class RecordRepository(Protocol):
    """The vertical's own tables: where accepted records end up."""

    async def put(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Upsert records, keep history, answer the counts per job."""
        ...

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Mark records as seen again."""
        ...

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> Mapping[int, int]:
        """Count complete runs, each of another source, against what they did not see.

        Answers by run how many are gone for good.
        """
        ...

    async def close_run(self, connection: AsyncConnection, scope: str, status: RunStatus, now: datetime) -> None:
        """A run of this vertical has ended; `scope` is the part of its source that it was for, '' for all of it."""
        ...


@runtime_checkable
class KeepsRecords(Protocol):
    """A repository that keeps each record whole, so that poorer readings need not overwrite what it knows."""

    async def stored(
        self, connection: AsyncConnection, source_id: int, identities: Sequence[str]
    ) -> Mapping[str, bytes]:
        """Answer the records that a source has under these identities, as JSON."""
        ...
