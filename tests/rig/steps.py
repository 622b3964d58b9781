"""How much work SQLite does for something: the steps of its virtual machine, the same on every computer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from tidemill.store.database.database import Database
from tidemill.store.database.inline import InlineAsyncConnection

GRAIN = 10


class StepCount:
    """Steps so far, in grains."""

    def __init__(self) -> None:
        self.grains = 0

    @property
    def steps(self) -> int:
        return self.grains * GRAIN

    def another(self) -> int:
        self.grains += 1
        return 0


async def count_steps(database: Database) -> StepCount:
    """Count the steps of the engine's own connection from now on."""
    count = StepCount()
    async with database.glance() as connection:
        driver = cast("InlineAsyncConnection", connection).driver
        driver.set_progress_handler(count.another, GRAIN)
    return count


@contextmanager
def steps_of(count: StepCount, into: list[int]) -> Iterator[None]:
    """Put down how many steps the block took."""
    before = count.steps
    yield
    into.append(count.steps - before)
