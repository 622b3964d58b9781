"""Which actor runs at Apify our jobs have begun: a job that is taken up again goes on with the run it paid for."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update

from tidemill.core.job import OPEN
from tidemill.core.services.actor_run import StartedRun
from tidemill.store.database.database import Database
from tidemill.store.schema import actor_runs, jobs

STARTED = "RUNNING"


class ActorRunRepository:
    """Writes down and looks up."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database
        statement = database.insert(actor_runs)
        names = [column.name for column in actor_runs.columns if not column.primary_key]
        fresh = {name: statement.excluded[name] for name in names}
        self._put = statement.on_conflict_do_update(index_elements=["job_id"], set_=fresh)

    async def of_job(self, job_id: int) -> StartedRun | None:
        """The run that the job has under way."""
        async with self._database.glance() as connection:
            row = (await connection.execute(_OF_JOB, {"b_job": job_id})).mappings().one_or_none()
        return None if row is None else _started(row)

    async def began(self, run: StartedRun) -> None:
        """Write down a run; a job has one at a time."""
        row = {name: getattr(run, name) for name in StartedRun.__struct_fields__}
        async with self._database.write() as connection:
            await connection.execute(self._put, [{**row, "status": STARTED, "ended_at": None}])

    async def ended(self, job_id: int, status: str, now: datetime) -> None:
        """The job has no run under way any more."""
        async with self._database.write() as connection:
            await connection.execute(_ENDED, {"b_job": job_id, "b_status": status, "b_now": now})

    async def orphans(self) -> list[StartedRun]:
        """Runs under way for jobs that have ended otherwise."""
        async with self._database.glance() as connection:
            return [_started(row) for row in (await connection.execute(_ORPHANS)).mappings()]


_UNDER_WAY = select(actor_runs).where(actor_runs.c.ended_at.is_(None))
_OF_JOB = _UNDER_WAY.where(actor_runs.c.job_id == bindparam("b_job"))
_ORPHANS = (
    _UNDER_WAY.outerjoin(jobs, (jobs.c.id == actor_runs.c.job_id) & jobs.c.status.in_(OPEN))
    .where(jobs.c.id.is_(None))
    .limit(100)
)
_ENDED = (
    update(actor_runs)
    .where(actor_runs.c.job_id == bindparam("b_job"))
    .values(status=bindparam("b_status"), ended_at=bindparam("b_now"))
)


def _started(row: Any) -> StartedRun:
    return StartedRun(**{name: row[name] for name in StartedRun.__struct_fields__})
