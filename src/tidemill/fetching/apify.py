"""The `apify` fetcher: an actor of Apify's reads a source, and the items it found are the page.

Nobody waits for an actor. A fetch starts it, or looks how far it is, and is then postponed: the job holds neither a
lease nor a place at its host meanwhile. Which run belongs to which job is stored, so that the next worker that takes
the job, also after a crash, goes on with the run that was paid for.
"""

from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.services.actor_run import StartedRun
from tidemill.core.services.budget import BudgetRefusal
from tidemill.core.services.degradation import FALLBACKS, Service
from tidemill.fetching.apify_protocol import (
    DOWN_WAIT,
    KEY_WAIT,
    MILLIONTHS,
    RUNNING_STATUSES,
    SUCCEEDED,
    TIMED_OUT_STATUSES,
    ActorOptions,
    ActorRun,
    BadActorOptions,
    fill_template,
    options_of,
    run_of,
    trouble_of,
)
from tidemill.fetching.budget import Account, Reserved
from tidemill.fetching.dataset import DatasetItems, read_items
from tidemill.fetching.http import digest_of
from tidemill.fetching.service_api import ApiTrouble, ServiceApi
from tidemill.fetching.translate import status_of
from tidemill.pipeline.ports import (
    Clock,
    FetchRequest,
    FetchResult,
    FetchStatus,
    ServiceRegistry,
    StoreError,
    Transport,
    WireResponse,
)

NAME = "apify"
RUN_TIMEOUT = timedelta(seconds=600)
"""The first try of an actor; the second has twice as long."""
GRACE = timedelta(seconds=60)
"""How much longer than its own time-out a run may take to say that it has ended."""
FIRST_POLL = timedelta(seconds=5)
LONGEST_POLL_INTERVAL = timedelta(seconds=60)
CALL_TIMEOUT = timedelta(seconds=30)
CALL_BYTES = 1_000_000


class ActorRuns(Protocol):
    """The actor runs that our jobs have started, kept where all processes see them."""

    async def of_job(self, job_id: int) -> StartedRun | None:
        """Return the run that the job has under way."""
        ...

    async def began(self, run: StartedRun) -> None:
        """Store a run before anything else is done with it."""
        ...

    async def ended(self, job_id: int, status: str, now: datetime) -> None:
        """Store that the job has no run under way any more."""
        ...

    async def orphans(self) -> list[StartedRun]:
        """Return the runs under way whose jobs have ended: nobody will collect them."""
        ...


class ApifyFetcher:
    """Fetches the items that an actor found."""

    def __init__(
        self,
        transport: Transport,
        base_url: str,
        token: str,
        account: Account,
        runs: ActorRuns,
        services: ServiceRegistry,
        clock: Clock,
    ) -> None:
        """`transport` carries the calls; an empty `token` is none."""
        self._transport = transport
        self._api = ServiceApi(transport, base_url, token)
        self._token = token
        self._account = account
        self._runs = runs
        self._services = services
        self._clock = clock

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Start the job's actor, or check its run; return its items when it is done, else when to come back."""
        if not self._token:
            message = f"apify is not set up: {FALLBACKS[Service.APIFY].setup}"
            return await self._report_trouble(
                request, ApiTrouble(Failure.HELD_BACK, message, self._clock.now() + KEY_WAIT)
            )
        try:
            options = options_of(request.options)
            under_way = await self._runs.of_job(request.job_id)
            answer = await (self._check_run(request, under_way) if under_way else self._start(request, options))
        except BadActorOptions as error:
            answer = ApiTrouble(Failure.CLIENT_ERROR, str(error), self._clock.now(), is_service_fault=False)
        except StoreError as error:
            answer = ApiTrouble(
                Failure.HELD_BACK, f"our own books cannot be read: {error}", self._next_poll(), is_service_fault=False
            )
        if isinstance(answer, ApiTrouble):
            return await self._report_trouble(request, answer)
        await self._services.works(Service.APIFY)
        return answer

    async def close(self) -> None:
        """Close the connections to Apify; runs under way go on."""
        await self._transport.close()

    async def probe(self) -> str:
        """Return '' if Apify accepts our token and our budget has room, else what is wrong."""
        if not self._token:
            return FALLBACKS[Service.APIFY].setup
        answer = await self._call("GET", "/v2/users/me")
        if isinstance(answer, ApiTrouble):
            return answer.message
        refused = await self._account.exceeded_limit(1)
        return _over_budget(refused).message if refused is not None else ""

    async def abort_orphans(self) -> int:
        """Abort the runs that nobody will collect, since their jobs have ended otherwise; return how many."""
        if not self._token:
            return 0
        orphans = await self._runs.orphans()
        for run in orphans:
            await self._abort(run, "ORPHANED")
        return len(orphans)

    async def _recheck_gates(self, request: FetchRequest) -> ApiTrouble | None:
        """Return why no actor may be started any more: the lease is lost, or a gate refuses by now."""
        now = self._clock.now()
        if request.holds_lease is not None and not request.holds_lease():
            message = "the worker was away for longer than its lease"
            return ApiTrouble(Failure.WORKER_DIED, message, now, is_service_fault=False)
        against = await request.recheck() if request.recheck is not None else None
        if against is None:
            return None
        message = f"{against.gate}: {against.words}"
        return ApiTrouble(against.failure or Failure.HELD_BACK, message, against.until or now, is_service_fault=False)

    async def _start(self, request: FetchRequest, options: ActorOptions) -> FetchResult | ApiTrouble:
        if (trouble := await self._recheck_gates(request)) is not None:
            return trouble
        reserved = await self._account.reserve(options.max_cost)
        if isinstance(reserved, BudgetRefusal):
            return _over_budget(reserved)
        if not isinstance(reserved, Reserved):
            raise reserved
        limit = RUN_TIMEOUT * (1 << min(request.attempt, 1))
        answer = await self._call(
            "POST", f"/v2/acts/{options.path}/runs", _run_parameters(options, limit), _input(request, options)
        )
        run = answer if isinstance(answer, ApiTrouble) else run_of(answer)
        if run is None:
            run = self._unreadable_answer()
        if isinstance(run, ApiTrouble):
            await self._account.settle(reserved, 0)
            return run
        started = StartedRun(
            job_id=request.job_id, actor=options.actor, run_id=run.id, dataset_id=run.default_dataset_id,
            timeout_seconds=int(limit.total_seconds()), reserved=reserved.amount, started_at=reserved.at,
        )  # fmt: skip
        await self._runs.began(started)
        return self._still_running(request, started)

    async def _check_run(self, request: FetchRequest, started: StartedRun) -> FetchResult | ApiTrouble:
        """Ask how far the run is, and collect its items when it is done."""
        answer = await self._call("GET", f"/v2/actor-runs/{started.run_id}")
        run = answer if isinstance(answer, ApiTrouble) else run_of(answer)
        if run is None:
            return self._unreadable_answer()
        is_late = self._clock.now() > started.started_at + timedelta(seconds=started.timeout_seconds) + GRACE
        if isinstance(run, ApiTrouble):
            return await self._lost_run(started) if run.failure is Failure.CLIENT_ERROR else run
        if run.status in RUNNING_STATUSES and not is_late:
            return self._still_running(request, started)
        if run.status == SUCCEEDED:
            return await self._collect(request, started, run)
        if is_late:
            await self._abort(started, "ABORTED")
        else:
            await self._end(started, run)
        return self._failed_run(run, started, is_late=is_late)

    async def _lost_run(self, started: StartedRun) -> ApiTrouble:
        """Forget a run that Apify no longer knows: another one will have to be started."""
        await self._runs.ended(started.job_id, "LOST", self._clock.now())
        message = f"apify has forgotten actor run {started.run_id}"
        return ApiTrouble(Failure.SERVER_ERROR, message, self._clock.now(), is_service_fault=False)

    async def _collect(self, request: FetchRequest, started: StartedRun, run: ActorRun) -> FetchResult | ApiTrouble:
        """Read all that the run found; the run is over once its items are read."""
        found = await read_items(self._call, run.default_dataset_id or started.dataset_id, request.max_bytes)
        if isinstance(found, ApiTrouble):
            return found
        await self._end(started, run)
        return self._page(request, started, found)

    def _page(self, request: FetchRequest, started: StartedRun, found: DatasetItems) -> FetchResult:
        failure = Failure.TOO_LARGE if found.is_cut else None
        return FetchResult(
            status=status_of(failure), url=request.url, final_url=request.url, status_code=200,
            headers={"content-type": "application/json"}, content_type="application/json", wire_body=found.body,
            body=found.body, digest=digest_of(found.body), duration=self._clock.now() - started.started_at,
            fetcher=NAME, requested_at=self._clock.now(), failure=failure,
            error=f"its {found.total} items are more than {request.max_bytes} bytes" if failure else "",
        )  # fmt: skip

    def _still_running(self, request: FetchRequest, started: StartedRun) -> FetchResult:
        """Postpone the job: for a short while at first, then longer and longer."""
        age = self._clock.now() - started.started_at
        pause = min(max(FIRST_POLL, age / 4), LONGEST_POLL_INTERVAL)
        return FetchResult(
            status=FetchStatus.OK, url=request.url, final_url=request.url, fetcher=NAME, failure=Failure.HELD_BACK,
            error=f"actor run {started.run_id} is at work", retry_at=self._clock.now() + pause,
        )  # fmt: skip

    def _failed_run(self, run: ActorRun, started: StartedRun, *, is_late: bool) -> ApiTrouble:
        if is_late or run.status in TIMED_OUT_STATUSES:
            message = f"actor run {run.id} took longer than {started.timeout_seconds} s"
            return ApiTrouble(Failure.TIMED_OUT, message, self._clock.now(), is_service_fault=False)
        excerpt = self._api.redact(run.status_message or "")[:200]
        message = f"actor run {run.id} ended {run.status.lower()} ({excerpt})"
        return ApiTrouble(Failure.SERVER_ERROR, message, self._clock.now(), is_service_fault=False)

    async def _abort(self, started: StartedRun, status: str) -> None:
        """Stop paying for a run; one that Apify cannot be told of ends by its own time-out."""
        answer = await self._call("POST", f"/v2/actor-runs/{started.run_id}/abort")
        run = None if isinstance(answer, ApiTrouble) else run_of(answer)
        await self._end(started, msgspec.structs.replace(run or ActorRun(started.run_id, status), status=status))

    async def _end(self, started: StartedRun, run: ActorRun) -> None:
        await self._runs.ended(started.job_id, run.status, self._clock.now())
        if run.paid is not None:
            await self._account.settle(Reserved(started.reserved, started.started_at), run.paid)

    async def _call(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int = CALL_BYTES,
    ) -> WireResponse | ApiTrouble:
        """Call Apify; return trouble for anything but a good answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if content:
            headers["Content-Type"] = "application/json"
        answer = await self._api.call(
            method, path, query=query, headers=headers, content=content, within=CALL_TIMEOUT, max_bytes=max_bytes
        )
        is_good = isinstance(answer, WireResponse) and answer.status_code in {200, 201}
        return (
            answer if is_good and isinstance(answer, WireResponse) else trouble_of(answer, self._api, self._clock.now())
        )

    def _unreadable_answer(self) -> ApiTrouble:
        return ApiTrouble(Failure.SERVER_ERROR, "apify talks nonsense about a run", self._clock.now() + DOWN_WAIT)

    def _next_poll(self) -> datetime:
        return self._clock.now() + FIRST_POLL

    async def _report_trouble(self, request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
        degraded: tuple[Service, ...] = ()
        if trouble.is_service_fault:
            await self._services.degraded(Service.APIFY, trouble.message)
            degraded = (Service.APIFY,)
        waits = trouble.failure in {Failure.HELD_BACK, Failure.OUT_OF_QUOTA}
        return FetchResult(
            status=status_of(trouble.failure), url=request.url, final_url=request.url, fetcher=NAME,
            failure=trouble.failure, error=trouble.message, retry_at=trouble.until if waits else None,
            degraded=degraded,
        )  # fmt: skip


def _run_parameters(options: ActorOptions, limit: timedelta) -> dict[str, str]:
    terms = {"timeout": str(int(limit.total_seconds())), "maxTotalChargeUsd": f"{options.max_dollars:g}"}
    if options.memory_mb is not None:
        terms["memory"] = str(options.memory_mb)
    if options.max_items is not None:
        terms["maxItems"] = str(options.max_items)
    return terms


def _input(request: FetchRequest, options: ActorOptions) -> bytes:
    known = {**request.parameters, "url": request.url}
    return msgspec.json.encode(fill_template(options.input or {"startUrls": [{"url": "{url}"}]}, known))


def _over_budget(refused: BudgetRefusal) -> ApiTrouble:
    until = f"{refused.until:%Y-%m-%d %H:%M} UTC"
    message = f"our own budget of ${refused.limit / MILLIONTHS:g} a {refused.period} is spent until {until}"
    return ApiTrouble(Failure.OUT_OF_QUOTA, message, refused.until)
