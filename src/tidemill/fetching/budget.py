"""The budget of a paid service: an amount is reserved before a call and corrected after it."""

from contextlib import suppress
from datetime import datetime
from typing import Protocol

import msgspec

from tidemill.core.services.budget import Budget, BudgetRefusal, Spent, budget_refusal
from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Clock, StoreError


class SpendingPort(Protocol):
    """What services were paid, kept where all processes see it."""

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Reserve `cost`, or return the limit that is in the way."""
        ...

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Replace what was reserved by what was paid."""
        ...

    async def spent(self, service: Service, now: datetime) -> Spent:
        """Return what was spent so far."""
        ...


class Reserved(msgspec.Struct, frozen=True):
    """An amount reserved for one call."""

    amount: int
    at: datetime


class Account:
    """One service's budget."""

    def __init__(self, spending: SpendingPort, service: Service, budget: Budget, clock: Clock) -> None:
        """Spend on `service` within `budget`, as `spending` records it."""
        self._spending = spending
        self._service = service
        self._budget = budget
        self._clock = clock

    async def reserve(self, amount: int) -> Reserved | BudgetRefusal | StoreError:
        """Reserve the amount that a call may cost; return the limit or the store's error that forbids it."""
        now = self._clock.now()
        try:
            refused = await self._spending.reserve(self._service, amount, self._budget, now)
        except StoreError as error:
            return error
        return refused or Reserved(amount, now)

    async def settle(self, reserved: Reserved, paid: int) -> None:
        """Record what the call cost in the end; if that cannot be written, what was reserved counts as spent."""
        with suppress(StoreError):
            await self._spending.settle(self._service, reserved.amount, paid, reserved.at)

    async def exceeded_limit(self, amount: int) -> BudgetRefusal | None:
        """Return the limit that spending so much would exceed, if any."""
        now = self._clock.now()
        return budget_refusal(self._budget, await self._spending.spent(self._service, now), amount, now)
