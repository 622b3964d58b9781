"""An account with a paid service: money is put aside before a call and put right after it."""

from contextlib import suppress
from datetime import datetime
from typing import Protocol

import msgspec

from tidemill.core.budget import Budget, BudgetRefusal, Spent, budget_refusal
from tidemill.core.degradation import Service
from tidemill.pipeline.ports import Clock, StoreError


class SpendingPort(Protocol):
    """What services were paid, kept where all processes see it."""

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Put `cost` aside, or say which limit is in the way."""
        ...

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Put right what was reserved."""
        ...

    async def spent(self, service: Service, now: datetime) -> Spent:
        """What was spent so far."""
        ...


class Reserved(msgspec.Struct, frozen=True):
    """Money put aside for one call."""

    amount: int
    at: datetime


class Account:
    """One service's budget."""

    def __init__(self, purse: SpendingPort, service: Service, budget: Budget, clock: Clock) -> None:
        """Spend from `purse` on `service`, within `budget`."""
        self._purse = purse
        self._service = service
        self._budget = budget
        self._clock = clock

    async def reserve(self, amount: int) -> Reserved | BudgetRefusal | StoreError:
        """Put money aside for a call that may cost so much; when the books cannot be read, nothing is spent."""
        now = self._clock.now()
        try:
            refused = await self._purse.reserve(self._service, amount, self._budget, now)
        except StoreError as lost:
            return lost
        return refused or Reserved(amount, now)

    async def settle(self, reserved: Reserved, paid: int) -> None:
        """The call cost so much in the end; if that cannot be written, what was put aside counts as spent."""
        with suppress(StoreError):
            await self._purse.settle(self._service, reserved.amount, paid, reserved.at)

    async def room_for(self, amount: int) -> BudgetRefusal | None:
        """Which limit is in the way of spending so much, if any."""
        now = self._clock.now()
        return budget_refusal(self._budget, await self._purse.spent(self._service, now), amount, now)
