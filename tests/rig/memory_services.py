"""The service registry, spending and actor runs in memory, for tests of one fetcher alone."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from tidemill.core.failure import Failure
from tidemill.core.services.actor_run import StartedRun
from tidemill.core.services.budget import Budget, BudgetRefusal, Spent, budget_refusal
from tidemill.core.services.degradation import Service, ServiceState, ServiceStatus
from tidemill.pipeline.ports import Probe, WireFailure, WireRequest


class UnreachableTransport:
    """A `Transport` for what must never be sent."""

    async def send(self, request: WireRequest, before_send: Callable[[], Awaitable[None]]) -> WireFailure:
        """Fail as an unknown host does."""
        del before_send
        return WireFailure(failure=Failure.DNS_FAILED, detail=request.url)

    async def close(self) -> None:
        """Close nothing."""


class MemoryServiceRegistry:
    """A `ServiceRegistry` that keeps every report."""

    def __init__(self) -> None:
        """Start without reports."""
        self.reports: list[tuple[Service, str]] = []

    async def degraded(self, service: Service, why: str) -> None:
        """Keep why it does not work."""
        self.reports.append((service, why))

    async def works(self, service: Service) -> None:
        """Note that it works."""
        self.reports.append((service, ""))

    def state_of(self, service: Service) -> ServiceState:
        """Return the state by the last report."""
        words = [why for named, why in self.reports if named is service]
        return ServiceState.DEGRADED if words and words[-1] else ServiceState.WORKS

    def degraded_for_all_runs(self) -> tuple[Service, ...]:
        """Return none."""
        return ()

    async def statuses(self) -> list[ServiceStatus]:
        """Return none."""
        return []

    def register_probe(self, service: Service, probe: Probe) -> None:
        """Probe nothing."""


class MemorySpending:
    """A `SpendingPort` whose periods never end."""

    def __init__(self) -> None:
        """Start with nothing spent."""
        self.amount = 0

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Put aside."""
        del service
        refused = budget_refusal(budget, Spent(self.amount, self.amount, self.amount), cost, now)
        self.amount += 0 if refused else cost
        return refused

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Replace what was reserved by what was paid."""
        del service, reserved_at
        self.amount += paid - reserved

    async def spent(self, service: Service, now: datetime) -> Spent:
        """Return what was spent so far."""
        del service, now
        return Spent(self.amount, self.amount, self.amount)


class MemoryActorRuns:
    """`ActorRuns` in memory: it outlives the fetcher, as the database does."""

    def __init__(self) -> None:
        """Start without runs."""
        self.under_way: dict[int, StartedRun] = {}
        self.over: list[tuple[int, str]] = []
        self.without_job: list[StartedRun] = []

    async def of_job(self, job_id: int) -> StartedRun | None:
        """Return the job's run."""
        return self.under_way.get(job_id)

    async def began(self, run: StartedRun) -> None:
        """Keep the run."""
        self.under_way[run.job_id] = run

    async def ended(self, job_id: int, status: str, now: datetime) -> None:
        """Remove the job's run."""
        del now
        self.under_way.pop(job_id, None)
        self.over.append((job_id, status))

    async def orphans(self) -> list[StartedRun]:
        """Return those that a test has orphaned."""
        return self.without_job
