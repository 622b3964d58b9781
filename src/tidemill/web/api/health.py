"""What machines watch us by: `/health`, `/ready`, `/status`, `/metrics`."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from tidemill.core.health.system import Grade
from tidemill.web.deps import WebDeps
from tidemill.web.health import Health
from tidemill.web.responses import json_response
from tidemill.web.schemas import json_responses
from tidemill.web.system_monitor import SystemMonitor, SystemStatus


def router(deps: WebDeps, monitor: SystemMonitor) -> APIRouter:
    """Return the routes that machines watch us by."""
    router = APIRouter(tags=["watching"])

    @router.get(
        "/health",
        responses={**json_responses(Health), 503: {**json_responses(Health)[200], "description": "We are down."}},
    )
    async def health() -> Response:
        """Tell how we are: healthy, degraded or down, with every reason."""
        found = await monitor.health()
        return json_response(found, 503 if found.status is Grade.DOWN else 200)

    @router.get(
        "/ready",
        responses={
            **json_responses(dict[str, bool], 503, description="The database answers and its tables are current.")
        },
    )
    async def ready() -> Response:
        """Tell whether requests can be served: the database answers and its tables are of this version."""
        await deps.require_current()
        return json_response({"ready": True})

    @router.get("/status", responses=json_responses(SystemStatus, 503))
    async def status() -> Response:
        """Hold the schedule against what happened; at most five seconds old."""
        found = await monitor.status.get()
        return json_response(found, 503 if found.totals is None else 200)

    @router.get("/metrics", responses={200: {"description": "Prometheus' text format.", "content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Count everything, for Prometheus."""
        return Response(deps.metrics.render(await monitor.snapshot()), media_type=CONTENT_TYPE_LATEST)

    return router
