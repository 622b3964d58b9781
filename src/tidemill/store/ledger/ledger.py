"""The ledger: claims, checkpoints, resumption and run ends behind one face for the engine."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidemill.core.run import RunSummary
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Committed, Resumed
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.checkpoints import Checkpoints
from tidemill.store.ledger.claims import Claims
from tidemill.store.ledger.runs import RunRepository
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.stage_inputs import StageInputs
from tidemill.store.records.repository import RecordRepository


class Ledger:
    """What a drain needs of the database."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        bodies: Bodies,
        repositories: Mapping[str, RecordRepository],
        verticals: Mapping[str, Vertical],
    ) -> None:
        """`repositories` and `verticals` by the vertical's name."""
        self._database = database
        self._ids = ids
        self._claims = Claims(database)
        self._checkpoints = Checkpoints(database, ids, bodies, repositories, verticals)
        self.materials = StageInputs(database, bodies, verticals)
        self.runs = RunRepository(database, ids, repositories, verticals)

    async def claim(self, lane: str, limit: int, worker_id: int, now: datetime) -> list[Claimed]:
        """Take jobs that may run now."""
        return await self._claims.claim(lane, limit, worker_id, now)

    async def next_moment(self, now: datetime, lane: str = "http") -> datetime | None:
        """When a job may become claimable by time alone."""
        return await self._claims.next_moment(now, lane)

    async def restore(self, claimed: Sequence[Claimed]) -> list[Resumed]:
        """Read back what resumed jobs work on."""
        return await self.materials.restore(claimed)

    async def commit(self, batch: Sequence[Checkpoint], now: datetime) -> Committed:
        """Write outputs and moves of the jobs that are still ours."""
        return await self._checkpoints.commit(batch, now)

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> list[RunSummary]:
        """Close runs whose jobs have all ended."""
        return await self.runs.close_all(run_ids, now)

    async def reserve_keys(self, count: int) -> None:
        """Make sure that stages can take so many keys."""
        await self._ids.reserve(count)
