"""The services' book and purse in memory, for tests of one fetcher alone."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from tidemill.core.actor_run import StartedRun
from tidemill.core.budget import Budget, BudgetRefusal, Spent, budget_refusal
from tidemill.core.degradation import Service, ServiceState, ServiceStatus
from tidemill.core.failure import Failure
from tidemill.pipeline.ports import Probe, WireFailure, WireRequest


class Nowhere:
    """A `Transport` for what must never be sent."""

    async def send(self, request: WireRequest, before_send: Callable[[], Awaitable[None]]) -> WireFailure:
        """Nobody is there."""
        del before_send
        return WireFailure(failure=Failure.DNS_FAILED, detail=request.url)

    async def close(self) -> None:
        """Nothing is held."""


class OpenBook:
    """A `ServiceBook` that remembers every word."""

    def __init__(self) -> None:
        """Blank."""
        self.said: list[tuple[Service, str]] = []

    async def degraded(self, service: Service, why: str) -> None:
        """Note a complaint."""
        self.said.append((service, why))

    async def works(self, service: Service) -> None:
        """Note that it works."""
        self.said.append((service, ""))

    def state_of(self, service: Service) -> ServiceState:
        """By the last word."""
        words = [why for named, why in self.said if named is service]
        return ServiceState.DEGRADED if words and words[-1] else ServiceState.WORKS

    def degraded_for_all_runs(self) -> tuple[Service, ...]:
        """Nothing does."""
        return ()

    async def statuses(self) -> list[ServiceStatus]:
        """Nobody asks."""
        return []

    def register_probe(self, service: Service, probe: Probe) -> None:
        """Nobody probes."""


class OpenPurse:
    """A `Purse` whose periods never end."""

    def __init__(self) -> None:
        """Nothing is spent."""
        self.amount = 0

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Put aside."""
        del service
        refused = budget_refusal(budget, Spent(self.amount, self.amount, self.amount), cost, now)
        self.amount += 0 if refused else cost
        return refused

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Put right."""
        del service, reserved_at
        self.amount += paid - reserved

    async def spent(self, service: Service, now: datetime) -> Spent:
        """So far."""
        del service, now
        return Spent(self.amount, self.amount, self.amount)


class OpenRuns:
    """`ActorRuns` in memory: it outlives the fetcher, as the database does."""

    def __init__(self) -> None:
        """None under way."""
        self.under_way: dict[int, StartedRun] = {}
        self.over: list[tuple[int, str]] = []
        self.without_job: list[StartedRun] = []

    async def of_job(self, job_id: int) -> StartedRun | None:
        """Look up."""
        return self.under_way.get(job_id)

    async def began(self, run: StartedRun) -> None:
        """Write down."""
        self.under_way[run.job_id] = run

    async def ended(self, job_id: int, status: str, now: datetime) -> None:
        """Strike out."""
        del now
        self.under_way.pop(job_id, None)
        self.over.append((job_id, status))

    async def orphans(self) -> list[StartedRun]:
        """Those that a test has orphaned."""
        return self.without_job
