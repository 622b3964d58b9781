"""How the live lane of this installation runs."""

from pathlib import Path

import msgspec

from tidemill.core.health.contexts import USUAL_LIMITS, ContextLimits
from tidemill.core.live.lifecycle import LifecyclePolicy
from tidemill.core.live.polling import PollPolicy
from tidemill.core.live.timeouts import TimeoutPolicy

MEGABYTE = 1_000_000


class LaneOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Intervals, time-outs and lives, when a page starts anew, and how much one process holds and keeps waiting.

    Beyond the caps, or with less memory free than `least_free_bytes`, watches are left to other processes.
    """

    polling: PollPolicy = PollPolicy()
    timeouts: TimeoutPolicy = TimeoutPolicy()
    lives: LifecyclePolicy = LifecyclePolicy()
    contexts: ContextLimits = USUAL_LIMITS
    most_watches: int = 1_000
    most_browser_watches: int = 40
    least_free_bytes: int = 500 * MEGABYTE
    most_waiting: int = 1_000
    most_waiting_bytes: int = 10 * MEGABYTE
    buffer_folder: Path | None = None
