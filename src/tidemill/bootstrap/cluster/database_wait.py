"""Waits for a database that is away when a long-running command starts: it often comes up a little later."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from tidemill.pipeline.ports import Clock, StoreClosedToUs, StoreLost

PAUSE = timedelta(seconds=1)


async def wait_for_database(
    ask: Callable[[], Awaitable[object]], longest: timedelta, clock: Clock, say: Callable[[str], None]
) -> bool:
    """Ask until the database answers, for so long at most; it is said once. Answers whether it was away."""
    gives_up_at = clock.now() + longest
    is_away = False
    while True:
        try:
            await ask()
        except StoreClosedToUs:
            raise  # it is there, and a wrong password does not become right by waiting
        except StoreLost as trouble:
            if not longest:
                raise
            if not is_away:
                say(f"Waiting up to {seconds_of(longest)} for the database (database_wait_seconds): {trouble}")
            is_away = True
            if clock.now() >= gives_up_at:
                msg = f"waited {seconds_of(longest)} (database_wait_seconds), and {trouble}"
                raise StoreLost(msg) from trouble
            await clock.sleep_until(min(clock.now() + PAUSE, gives_up_at))
        else:
            return is_away


def seconds_of(time: timedelta) -> str:
    """A time as a person says it: 60 s."""
    return f"{time.total_seconds():g} s"
