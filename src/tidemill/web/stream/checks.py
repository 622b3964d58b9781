"""When things were last checked, from what the processes that poll them publish."""

from datetime import timedelta

from tidemill.core.health.contexts import ScraperContext
from tidemill.core.live.rules import Phase
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.web.stream.resource import CheckState


class BoardChecks:
    """Implements `CheckTimes` over the board of live health."""

    def __init__(self, board: LiveHealthBoard) -> None:
        """Ask the board's memory only."""
        self._board = board

    async def refresh(self) -> None:
        """Have the board read what other processes published."""
        await self._board.refresh_quietly()

    def check_of(self, vertical: str, key: str) -> CheckState | None:
        """Return when a thing was last checked; None if nobody has watched it of late."""
        found = self._board.context_of_thing(vertical, key)
        if found is None:
            return None
        context, lives = found
        rests = context.polling_interval if context.phase is Phase.BREAK else timedelta(0)
        trouble = trouble_of(context) if lives else "no_worker"
        return CheckState(context.last_update_time, context.scraper_id, trouble, rests)


def trouble_of(context: ScraperContext) -> str:
    """Return why a page is not checked more often, '' if nothing is the matter."""
    if context.trouble:
        return context.trouble
    if context.is_paused:
        return "paused"
    if context.error_count:
        return "source_down"
    return "pace" if context.debt else ""
