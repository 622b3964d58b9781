"""What outside services were paid, hour by hour; reserved before a call, so that no two processes overspend."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.services.budget import Budget, BudgetRefusal, Spent, budget_refusal, start_of
from tidemill.core.services.degradation import Service
from tidemill.store.database.database import Database
from tidemill.store.schema import service_spend


class SpendingRepository:
    """Reserves, settles and sums up."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database
        statement = database.insert(service_spend)
        more = {name: service_spend.c[name] + statement.excluded[name] for name in ("amount", "calls")}
        self._add = statement.on_conflict_do_update(index_elements=["service", "hour"], set_=more)

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Put `cost` aside if the budget has room for it; else which limit is in the way.

        The hour's row is written first and held until we are done, so that whoever comes meanwhile sees it.
        """
        async with self._database.write() as connection:
            await self._write(connection, service, cost, 1, now)
            spent = await _sum(connection, service, now)
            before = Spent(spent.hour - cost, spent.day - cost, spent.month - cost)
            refused = budget_refusal(budget, before, cost, now)
            if refused is not None:
                await self._write(connection, service, -cost, -1, now)
            return refused

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Put right what was reserved, now that the price is known."""
        if paid != reserved:
            async with self._database.write() as connection:
                hour = start_of("hour", reserved_at)
                await connection.execute(_CORRECT, {"b_service": service, "b_hour": hour, "b_more": paid - reserved})

    async def spent(self, service: Service, now: datetime) -> Spent:
        """What was spent in the present hour, day and month."""
        async with self._database.glance() as connection:
            return await _sum(connection, service, now)

    async def _write(
        self, connection: AsyncConnection, service: Service, amount: int, calls: int, now: datetime
    ) -> None:
        row = {"service": service, "hour": start_of("hour", now), "amount": amount, "calls": calls}
        await connection.execute(self._add, [row])


_CORRECT = (
    update(service_spend)
    .where(service_spend.c.service == bindparam("b_service"), service_spend.c.hour == bindparam("b_hour"))
    .values(amount=service_spend.c.amount + bindparam("b_more"))
)


def _since(name: str) -> Any:
    inside = service_spend.c.hour >= bindparam(name, type_=service_spend.c.hour.type)
    return func.coalesce(func.sum(case((inside, service_spend.c.amount), else_=0)), 0)


_SUM = select(_since("b_hour"), _since("b_day"), _since("b_month")).where(
    service_spend.c.service == bindparam("b_service"), service_spend.c.hour >= bindparam("b_month")
)


async def _sum(connection: AsyncConnection, service: Service, now: datetime) -> Spent:
    starts = {f"b_{period}": start_of(period, now) for period in ("hour", "day", "month")}
    hour, day, month = (await connection.execute(_SUM, {"b_service": service, **starts})).one()
    return Spent(int(hour), int(day), int(month))
