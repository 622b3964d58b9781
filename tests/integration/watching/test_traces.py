"""A run arrives at a collector as one trace: run > job > stage > request, without secrets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from rig.clock import SettableClock
from rig.hostile_crowd import free_port
from rig.lab_works import lab_works
from tidemill.bootstrap.watching.traces import sending_traces
from tidemill.bootstrap.web import Telemetry
from tidemill.core.views.spans import TraceSpan
from tidemill.settings import Settings
from tidemill.telemetry.traces import MOST_JOBS, TraceListener
from tidemill.verticals.events.lab.sites import build_sites
from unit.telemetry import announced

pytestmark = pytest.mark.shows("H8")

otlp = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
KEY = "c0ll3ct0rk3y"


@asynccontextmanager
async def a_collector() -> AsyncIterator[tuple[list[bytes], list[str], str]]:
    """A collector that keeps what it is sent, and the keys it was shown."""
    bodies: list[bytes] = []
    keys: list[str] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        keys.append(request.headers.get("x-key", ""))
        return web.Response(body=b"", content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield bodies, keys, f"http://127.0.0.1:{port}/v1/traces"
    finally:
        await runner.cleanup()


async def test_a_run_arrives_as_one_trace_with_its_jobs_stages_and_requests(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with a_collector() as (bodies, keys, address):
        settings = Settings(traces_url=address, traces_headers={"x-key": KEY})
        telemetry = Telemetry(lambda words, error: pytest.fail(f"{words}: {error!r}"))
        async with (
            sending_traces(settings, telemetry),
            lab_works(migrated_sqlite_url, clock, tmp_path, build_sites(7, 1)) as works,
        ):
            works.system.announce.add(telemetry.listeners)
            (run,) = await works.scrape()
    assert set(keys) == {KEY}
    spans = [
        span
        for body in bodies
        for resource in otlp.ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert len({span.trace_id for span in spans}) == 1
    by_number = {span.span_id: span for span in spans}
    assert len(by_number) == len(spans)
    parents = {span.name: by_number[span.parent_span_id].name for span in spans if span.parent_span_id}
    assert parents == {
        "job": "run", "stage fetch": "job", "stage parse": "job", "stage normalize": "job", "stage persist": "job",
        "request": "stage fetch",
    }  # fmt: skip
    jobs = [span for span in spans if span.name == "job"]
    assert len(jobs) == run.counts.urls_attempted
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    assert KEY.encode() not in b"".join(bodies)


def spans_of(*happenings: object) -> list[TraceSpan]:
    found: list[TraceSpan] = []
    listener = TraceListener(found.append)
    for each in happenings:
        listener.listen(each)  # type: ignore[arg-type]
    return found


def test_a_failed_job_says_why_without_secrets() -> None:
    dead = msgspec.structs.replace(announced.DEAD, detail="refused https://a.example/?api_key=hunter2")
    (span,) = spans_of(dead)
    assert span.name == "job"
    assert "refused https://a.example/" in span.failure
    assert "hunter2" not in span.failure


def test_jobs_that_never_end_do_not_fill_the_memory() -> None:
    listener = TraceListener(lambda _: None)
    for key in range(MOST_JOBS + 50):
        listener.listen(msgspec.structs.replace(announced.PAGE_GOT, job_id=key))
    assert len(listener._jobs) == MOST_JOBS
