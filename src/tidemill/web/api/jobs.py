"""Jobs under `/api/v1/jobs`: list them, look at one, and take stale ones up again."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from tidemill.core.job import JobStatus
from tidemill.core.outcome import Stage
from tidemill.core.views import JobDetail, JobFilter, JobView
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, Limit, OptionalKey, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Counted, Listed, ResourceNotFound, json_response, list_page, redacted_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class RequeueWanted(RequestBody):
    """Whose stale jobs to take up again: of one source, or of all."""

    source: str | None = Field(None, max_length=300)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of jobs."""
    router = APIRouter(prefix="/api/v1", tags=["jobs"])

    @router.get("/jobs", responses=json_responses(Listed[JobView], 404, 422, 503))
    async def jobs(  # noqa: PLR0917 - one per filter
        run: OptionalKey = None,
        target: OptionalKey = None,
        source: Word = None,
        status: JobStatus | None = None,
        stage: Stage | None = None,
        failure: Word = None,
        host: Word = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        """List jobs, the newest first."""
        which = JobFilter(
            run_id=run, target_id=target, source_id=await lookup.source_id(deps, source), status=status, stage=stage,
            failure=failure, host=host,
        )  # fmt: skip
        found = await deps.views.jobs(which, before=run_cursor(cursor), limit=limit + 1)
        return redacted_response(list_page(found, limit))

    @router.get("/jobs/{job_id:int}", responses=json_responses(JobDetail, 404, 422, 503))
    async def job(job_id: Key) -> Response:
        """Show a job with what its stages left behind."""
        found = await deps.views.job(job_id)
        if found is None:
            msg = f"There is no job {job_id}."
            raise ResourceNotFound(msg, "Old jobs are let go by retention; `/api/v1/jobs` lists the rest.")
        return redacted_response(found)

    @router.post("/jobs/requeue-stale", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def requeue_stale(wanted: RequeueWanted, by: ActorName) -> Response:
        """Take jobs up again that waited too long and were set aside."""
        return json_response(Counted(await deps.runs.requeue_stale(wanted.source, by)))

    return router
