"""Matches that an ordinary crawl finds: each gets its key as if the live lane had listed it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.run import RunStatus
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.store.records.repository import CompleteRun
from tidemill.verticals.matches.identity import ListedMatch
from tidemill.verticals.matches.record import MatchRecord
from tidemill.verticals.matches.store.identities import MatchIdentities
from tidemill.verticals.matches.telling import moment_of


class MatchRepository:
    """Implements `RecordRepository`; states are the live lane's, so that absence and age mean nothing here."""

    def __init__(self, identities: MatchIdentities) -> None:
        """Keep ids with the lane's."""
        self._identities = identities

    async def put(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Give each record a match; those that have one count as unchanged."""
        counts: dict[int, WriteCounts] = {}
        for job, harvest in harvests:
            listed = {each.identity: _listed(each.identity, each.record, harvest) for each in harvest.records}
            before = await self._identities.mapped(connection, job.source_id, list(listed))
            await self._identities.add(connection, job.source_id, list(listed.values()), now)
            new = len(listed) - len(before)
            counts[job.id] = WriteCounts(new, 0, len(harvest.records) - new)
        return counts

    async def touch(self, connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
        """Return how many of the records are known; there is nothing to mark."""
        del now
        return len(await self._identities.mapped(connection, source_id, identities))

    async def miss(
        self, connection: AsyncConnection, over: Sequence[CompleteRun], now: datetime, patience: int
    ) -> Mapping[int, int]:
        """Return that nothing is gone: the live lane completes a match that two complete lists did not name."""
        del connection, now, patience
        return {run.run_id: 0 for run in over}

    async def close_run(self, connection: AsyncConnection, scope: str, status: RunStatus, now: datetime) -> None:
        """There is nothing to do at the end of a run."""


def _listed(identity: str, match: MatchRecord, harvest: AcceptedRecords) -> ListedMatch:
    return ListedMatch(
        source_key=identity,
        url=harvest.judged.page.url,
        title=match.title,
        teams=(match.team_a, match.team_b),
        starts_at=moment_of(match.start_time),
        series=match.series,
        match_type=match.match_type,
    )
