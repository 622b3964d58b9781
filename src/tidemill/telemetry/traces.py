"""Happenings as spans: run > job > stage > request. Whoever exports them is told of finished spans only.

Numbers of spans follow from the keys of runs and jobs, so that spans of several processes find their parents.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from xxhash import xxh3_64_intdigest, xxh3_128_intdigest

from tidemill.core.checks.secrets import redact_text
from tidemill.core.outcome import Stage
from tidemill.core.views.spans import TraceSpan
from tidemill.pipeline.happenings import Happening, JobDead, JobRefused, JobWaits, PageGot, RunClosed, StageDone

MOST_JOBS = 20_000
"""Jobs whose spans are open; beyond, the oldest is forgotten and has only its stages."""


class OpenJob(msgspec.Struct):
    """A job whose end has not been heard of: when it was first heard of, and when its last stage ended."""

    begins: datetime
    stage_begins: datetime
    page: PageGot | None = None


def trace_number(run_id: int) -> int:
    """Return the number of a run's trace."""
    return xxh3_128_intdigest(f"run {run_id}".encode()) or 1


def span_number(kind: str, *keys: object) -> int:
    """Return the number of a span."""
    return xxh3_64_intdigest(f"{kind} {' '.join(map(str, keys))}".encode()) or 1


class TraceListener:
    """Makes spans of happenings, and hands each over when it has ended."""

    def __init__(self, export: Callable[[TraceSpan], None]) -> None:
        """`export` must return at once."""
        self._export = export
        self._jobs: OrderedDict[int, OpenJob] = OrderedDict()
        self._handlers: dict[type, Callable[[Any], None]] = {
            PageGot: self._page_got,
            StageDone: self._stage_done,
            JobWaits: self._waits,
            JobRefused: self._ended,
            JobDead: self._ended,
            RunClosed: self._run_closed,
        }

    def listen(self, happening: Happening) -> None:
        """Make a span of it, if it ends one."""
        handler = self._handlers.get(type(happening))
        if handler is not None:
            handler(happening)

    def _job(self, job_id: int, at: datetime) -> OpenJob:
        job = self._jobs.get(job_id)
        if job is None:
            job = self._jobs[job_id] = OpenJob(at, at)
            if len(self._jobs) > MOST_JOBS:
                self._jobs.popitem(last=False)
        return job

    def _page_got(self, page: PageGot) -> None:
        began = page.at - timedelta(milliseconds=page.milliseconds + page.waited_ms)
        job = self._job(page.job_id, began)
        job.page, job.stage_begins = page, min(job.stage_begins, began)

    def _stage_done(self, done: StageDone) -> None:
        took = timedelta(milliseconds=done.milliseconds or 0)
        job = self._job(done.job_id, done.at - took)
        stage = span_number("stage", done.job_id, done.stage)
        self._tell(done, stage, span_number("job", done.job_id), f"stage {done.stage}", job.stage_begins, {})
        if job.page is not None and done.stage is Stage.FETCH:
            self._request(job.page, stage)
            job.page = None
        job.stage_begins = done.at
        if done.ends:
            self._job_over(done, "")

    def _request(self, page: PageGot, stage: int) -> None:
        began = page.at - timedelta(milliseconds=page.milliseconds)
        told: dict[str, str | int | bool] = {
            "server.address": page.host, "http.response.status_code": page.status_code,
            "http.response.body.size": page.size, "tidemill.waited_ms": page.waited_ms,
            "tidemill.unchanged": page.unchanged,
        }  # fmt: skip
        self._tell(page, span_number("request", page.job_id, page.at), stage, "request", began, told)

    def _waits(self, wait: JobWaits) -> None:
        job = self._job(wait.job_id, wait.at)
        if wait.failure is not None:
            number = span_number("try", wait.job_id, wait.at)
            told: dict[str, str | int | bool] = {"server.address": wait.host, "tidemill.reason": wait.reason}
            parent = span_number("job", wait.job_id)
            self._tell(wait, number, parent, f"failed {wait.stage}", job.stage_begins, told, str(wait.failure))
        job.stage_begins = wait.at

    def _ended(self, end: JobDead | JobRefused) -> None:
        self._job(end.job_id, end.at)
        self._job_over(end, f"{end.failure}: {end.detail}")

    def _job_over(self, end: Any, failure: str) -> None:
        job = self._jobs.pop(end.job_id)
        number, parent = span_number("job", end.job_id), span_number("run", end.run_id)
        self._tell(end, number, parent, "job", job.begins, {"tidemill.job": end.job_id}, failure)

    def _run_closed(self, closed: RunClosed) -> None:
        run = closed.summary
        told: dict[str, str | int | bool] = {
            "tidemill.run": run.run_id, "tidemill.source": run.source_name, "tidemill.vertical": run.vertical,
            "tidemill.trigger": run.trigger, "tidemill.status": run.status.value, "tidemill.complete": run.complete,
        }  # fmt: skip
        span = TraceSpan(
            trace=trace_number(run.run_id), number=span_number("run", run.run_id), parent=0, name="run",
            begins=run.started_at, ends=run.completed_at, attributes=told,
        )  # fmt: skip
        self._export(span)

    def _tell(
        self, of: Any, number: int, parent: int, name: str, begins: datetime,
        attributes: Mapping[str, str | int | bool], failure: str = "",
    ) -> None:  # fmt: skip
        who = {"tidemill.source_id": of.source_id, "tidemill.adapter": of.adapter_id}
        clean: dict[str, str | int | bool] = {
            key: redact_text(each) if isinstance(each, str) else each for key, each in attributes.items()
        }
        span = TraceSpan(
            trace=trace_number(of.run_id), number=number, parent=parent, name=name, begins=min(begins, of.at),
            ends=of.at, attributes={**who, **clean}, failure=redact_text(failure),
        )  # fmt: skip
        self._export(span)
