"""The `apify` fetcher: an actor of Apify's reads a source, and the items it found are the page.

Nobody waits for an actor. A fetch starts it, or looks how far it is, and is then put off: the job holds neither a
lease nor a place at its host meanwhile. Which run belongs to which job is written down, so that whoever takes the job
up next, after a crash too, goes on with the run that was paid for.
"""

from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.actor_run import StartedRun
from tidemill.core.budget import BudgetRefusal
from tidemill.core.degradation import FALLBACKS, Service
from tidemill.core.failure import Failure
from tidemill.fetching.apify_protocol import (
    DOWN_WAIT,
    KEY_WAIT,
    MILLIONTHS,
    OVER_TIME,
    RUNNING,
    SUCCEEDED,
    ActorOptions,
    ActorRun,
    BadActorOptions,
    filled,
    options_of,
    run_of,
    trouble_of,
)
from tidemill.fetching.budget import Account, Reserved
from tidemill.fetching.dataset import Items, read_items
from tidemill.fetching.http import digest_of
from tidemill.fetching.outside import Api, ApiTrouble
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
FIRST_LOOK = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(seconds=60)
CALL_TIMEOUT = timedelta(seconds=30)
CALL_BYTES = 1_000_000


class ActorRuns(Protocol):
    """Which actor runs our jobs have begun, kept where all processes see it."""

    async def of_job(self, job_id: int) -> StartedRun | None:
        """The run that the job has under way."""
        ...

    async def began(self, run: StartedRun) -> None:
        """Write down a run, before anything else is done with it."""
        ...

    async def ended(self, job_id: int, status: str, now: datetime) -> None:
        """The job has no run under way any more."""
        ...

    async def orphans(self) -> list[StartedRun]:
        """Runs under way for jobs that have ended otherwise: nobody will come for them."""
        ...


class ApifyFetcher:
    """Gets the items that an actor found."""

    def __init__(
        self,
        transport: Transport,
        base_url: str,
        token: str,
        account: Account,
        runs: ActorRuns,
        book: ServiceRegistry,
        clock: Clock,
    ) -> None:
        """`transport` carries the calls; an empty `token` is none."""
        self._transport = transport
        self._api = Api(transport, base_url, token)
        self._token = token
        self._account = account
        self._runs = runs
        self._book = book
        self._clock = clock

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Start the job's actor, or see how far it is; items when it is done, a moment to come back when not."""
        if not self._token:
            words = f"apify is not set up: {FALLBACKS[Service.APIFY].setup}"
            return await self._troubled(request, ApiTrouble(Failure.HELD_BACK, words, self._clock.now() + KEY_WAIT))
        try:
            options = options_of(request.options)
            under_way = await self._runs.of_job(request.job_id)
            answer = await (self._look(request, under_way) if under_way else self._start(request, options))
        except BadActorOptions as error:
            answer = ApiTrouble(Failure.CLIENT_ERROR, str(error), self._clock.now(), is_its_own=False)
        except StoreError as lost:
            answer = ApiTrouble(
                Failure.HELD_BACK, f"our own books cannot be read: {lost}", self._soon(), is_its_own=False
            )
        if isinstance(answer, ApiTrouble):
            return await self._troubled(request, answer)
        await self._book.works(Service.APIFY)
        return answer

    async def close(self) -> None:
        """Close the connections to Apify; runs under way go on."""
        await self._transport.close()

    async def probe(self) -> str:
        """Whether actors can be run again: Apify knows us, and our own budget has room."""
        if not self._token:
            return FALLBACKS[Service.APIFY].setup
        answer = await self._call("GET", "/v2/users/me")
        if isinstance(answer, ApiTrouble):
            return answer.words
        refused = await self._account.room_for(1)
        return _over_budget(refused).words if refused is not None else ""

    async def give_up_orphans(self) -> int:
        """Abort the runs that nobody will come for: their jobs were refused, discarded or ran out of road."""
        if not self._token:
            return 0
        orphans = await self._runs.orphans()
        for run in orphans:
            await self._abort(run, "ORPHANED")
        return len(orphans)

    async def _second_thoughts(self, request: FetchRequest) -> ApiTrouble | None:
        """Why no actor may be started by now: the job is another's, or a gate has changed its mind."""
        now = self._clock.now()
        if request.holds_lease is not None and not request.holds_lease():
            words = "the worker was away for longer than its lease"
            return ApiTrouble(Failure.WORKER_DIED, words, now, is_its_own=False)
        against = await request.recheck() if request.recheck is not None else None
        if against is None:
            return None
        words = f"{against.gate}: {against.words}"
        return ApiTrouble(against.failure or Failure.HELD_BACK, words, against.until or now, is_its_own=False)

    async def _start(self, request: FetchRequest, options: ActorOptions) -> FetchResult | ApiTrouble:
        if (trouble := await self._second_thoughts(request)) is not None:
            return trouble
        reserved = await self._account.reserve(options.most)
        if isinstance(reserved, BudgetRefusal):
            return _over_budget(reserved)
        if not isinstance(reserved, Reserved):
            raise reserved
        limit = RUN_TIMEOUT * (1 << min(request.attempt, 1))
        answer = await self._call(
            "POST", f"/v2/acts/{options.path}/runs", _terms(options, limit), _input(request, options)
        )
        run = answer if isinstance(answer, ApiTrouble) else run_of(answer)
        if run is None:
            run = self._nonsense()
        if isinstance(run, ApiTrouble):
            await self._account.settle(reserved, 0)
            return run
        started = StartedRun(
            job_id=request.job_id, actor=options.actor, run_id=run.id, dataset_id=run.default_dataset_id,
            timeout_seconds=int(limit.total_seconds()), reserved=reserved.amount, started_at=reserved.at,
        )  # fmt: skip
        await self._runs.began(started)
        return self._not_yet(request, started)

    async def _look(self, request: FetchRequest, started: StartedRun) -> FetchResult | ApiTrouble:
        """See how far the run is."""
        answer = await self._call("GET", f"/v2/actor-runs/{started.run_id}")
        run = answer if isinstance(answer, ApiTrouble) else run_of(answer)
        if run is None:
            return self._nonsense()
        is_late = self._clock.now() > started.started_at + timedelta(seconds=started.timeout_seconds) + GRACE
        if isinstance(run, ApiTrouble):
            return await self._forgotten(started) if run.failure is Failure.CLIENT_ERROR else run
        if run.status in RUNNING and not is_late:
            return self._not_yet(request, started)
        if run.status == SUCCEEDED:
            return await self._collect(request, started, run)
        if is_late:
            await self._abort(started, "ABORTED")
        else:
            await self._end(started, run)
        return self._failed_run(run, started, is_late=is_late)

    async def _forgotten(self, started: StartedRun) -> ApiTrouble:
        """Apify does not know the run any more: another will have to be begun."""
        await self._runs.ended(started.job_id, "LOST", self._clock.now())
        words = f"apify has forgotten actor run {started.run_id}"
        return ApiTrouble(Failure.SERVER_ERROR, words, self._clock.now(), is_its_own=False)

    async def _collect(self, request: FetchRequest, started: StartedRun, run: ActorRun) -> FetchResult | ApiTrouble:
        """Page through what the run found; the run is over once its items are in hand."""
        found = await read_items(self._call, run.default_dataset_id or started.dataset_id, request.max_bytes)
        if isinstance(found, ApiTrouble):
            return found
        await self._end(started, run)
        return self._page(request, started, found)

    def _page(self, request: FetchRequest, started: StartedRun, found: Items) -> FetchResult:
        failure = Failure.TOO_LARGE if found.is_cut else None
        return FetchResult(
            status=status_of(failure), url=request.url, final_url=request.url, status_code=200,
            headers={"content-type": "application/json"}, content_type="application/json", wire_body=found.body,
            body=found.body, digest=digest_of(found.body), duration=self._clock.now() - started.started_at,
            fetcher=NAME, requested_at=self._clock.now(), failure=failure,
            error=f"its {found.total} items are more than {request.max_bytes} bytes" if failure else "",
        )  # fmt: skip

    def _not_yet(self, request: FetchRequest, started: StartedRun) -> FetchResult:
        """Come back later: soon at first, then less and less often."""
        age = self._clock.now() - started.started_at
        pause = min(max(FIRST_LOOK, age / 4), LONGEST_PAUSE)
        return FetchResult(
            status=FetchStatus.OK, url=request.url, final_url=request.url, fetcher=NAME, failure=Failure.HELD_BACK,
            error=f"actor run {started.run_id} is at work", retry_at=self._clock.now() + pause,
        )  # fmt: skip

    def _failed_run(self, run: ActorRun, started: StartedRun, *, is_late: bool) -> ApiTrouble:
        if is_late or run.status in OVER_TIME:
            words = f"actor run {run.id} took longer than {started.timeout_seconds} s"
            return ApiTrouble(Failure.TIMED_OUT, words, self._clock.now(), is_its_own=False)
        said = self._api.clean(run.status_message or "")[:200]
        words = f"actor run {run.id} ended {run.status.lower()} ({said})"
        return ApiTrouble(Failure.SERVER_ERROR, words, self._clock.now(), is_its_own=False)

    async def _abort(self, started: StartedRun, status: str) -> None:
        """Stop paying for a run. One that Apify cannot be told of ends by its own time-out."""
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
        """Call Apify; whatever is not a good answer is trouble."""
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

    def _nonsense(self) -> ApiTrouble:
        return ApiTrouble(Failure.SERVER_ERROR, "apify talks nonsense about a run", self._clock.now() + DOWN_WAIT)

    def _soon(self) -> datetime:
        return self._clock.now() + FIRST_LOOK

    async def _troubled(self, request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
        degraded: tuple[Service, ...] = ()
        if trouble.is_its_own:
            await self._book.degraded(Service.APIFY, trouble.words)
            degraded = (Service.APIFY,)
        waits = trouble.failure in {Failure.HELD_BACK, Failure.OUT_OF_QUOTA}
        return FetchResult(
            status=status_of(trouble.failure), url=request.url, final_url=request.url, fetcher=NAME,
            failure=trouble.failure, error=trouble.words, retry_at=trouble.until if waits else None, degraded=degraded,
        )  # fmt: skip


def _terms(options: ActorOptions, limit: timedelta) -> dict[str, str]:
    terms = {"timeout": str(int(limit.total_seconds())), "maxTotalChargeUsd": f"{options.max_dollars:g}"}
    if options.memory_mb is not None:
        terms["memory"] = str(options.memory_mb)
    if options.max_items is not None:
        terms["maxItems"] = str(options.max_items)
    return terms


def _input(request: FetchRequest, options: ActorOptions) -> bytes:
    known = {**request.parameters, "url": request.url}
    return msgspec.json.encode(filled(options.input or {"startUrls": [{"url": "{url}"}]}, known))


def _over_budget(refused: BudgetRefusal) -> ApiTrouble:
    until = f"{refused.until:%Y-%m-%d %H:%M} UTC"
    words = f"our own budget of ${refused.limit / MILLIONTHS:g} a {refused.period} is spent until {until}"
    return ApiTrouble(Failure.OUT_OF_QUOTA, words, refused.until)
