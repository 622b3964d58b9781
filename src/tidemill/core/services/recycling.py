"""When a browser is replaced: by age, tasks, memory, processes, idleness or a crash."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

GIGABYTE = 1_000_000_000


class RecycleReason(StrEnum):
    """Why a browser is replaced; the value stands in the audit log."""

    BROWSER_DIED = "browser_died"
    DRIVER_DIED = "driver_died"
    HUNG = "hung"
    MEMORY_HARD = "memory_hard"
    MEMORY_SOFT = "memory_soft"
    PIDS = "pids"
    AGE = "age"
    TASKS = "tasks"
    IDLE = "idle"
    REQUESTED = "requested"


class RecycleRules(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on a browser's age, work and memory.

    Above `soft_bytes` it takes no new work, finishes what it has and is closed; above `hard_bytes` it is killed on
    the spot, with its pages. After `idle_after` without work it is closed, and started again when there is some.
    """

    max_age: timedelta = timedelta(hours=6)
    max_tasks: int = 500
    soft_bytes: int = GIGABYTE * 3 // 2
    hard_bytes: int = GIGABYTE * 2
    max_pids: int = 80
    idle_after: timedelta = timedelta(minutes=10)

    def __post_init__(self) -> None:
        """Raise `ValueError` for limits under which a browser would be killed before it is closed, or never used."""
        if self.soft_bytes > self.hard_bytes:
            msg = f"the soft memory limit ({self.soft_bytes}) lies above the hard one ({self.hard_bytes})"
            raise ValueError(msg)
        if self.max_tasks < 1 or self.max_pids < 1:
            msg = "a browser must be allowed one task and one process at least"
            raise ValueError(msg)


class PoolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many browser contexts may be in use at once, in all and for one host.

    `check_every` is how often a browser is checked, `publish_every` how often the pool's state is stored and requests
    to recycle are read.
    """

    contexts: int = 4
    per_host: int = 2
    check_every: timedelta = timedelta(seconds=2)
    publish_every: timedelta = timedelta(seconds=5)


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """A browser as it stands: what it has done, what it uses, who of it lives."""

    started_at: datetime
    last_used_at: datetime
    tasks: int = 0
    busy: int = 0
    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    pids: int = 0
    browser_lives: bool = True
    driver_lives: bool = True


class Recycle(msgspec.Struct, frozen=True):
    """Replace the browser: at once, or when its open pages are done."""

    reason: RecycleReason
    at_once: bool


def recycle_decision(vitals: Vitals, rules: RecycleRules, now: datetime) -> Recycle | None:
    """Return whether and how to replace a browser, for the most severe reason; None to keep it."""
    return _must_go_at_once(vitals, rules) or _should_finish(vitals, rules, now)


def _must_go_at_once(vitals: Vitals, rules: RecycleRules) -> Recycle | None:
    if not vitals.browser_lives:
        return Recycle(RecycleReason.BROWSER_DIED, at_once=True)
    if not vitals.driver_lives:
        return Recycle(RecycleReason.DRIVER_DIED, at_once=True)
    if vitals.memory_bytes > rules.hard_bytes:
        return Recycle(RecycleReason.MEMORY_HARD, at_once=True)
    return None


def _should_finish(vitals: Vitals, rules: RecycleRules, now: datetime) -> Recycle | None:
    is_idle = not vitals.busy and now - vitals.last_used_at >= rules.idle_after
    signs = (
        (vitals.memory_bytes > rules.soft_bytes, RecycleReason.MEMORY_SOFT),
        (vitals.pids > rules.max_pids, RecycleReason.PIDS),
        (now - vitals.started_at >= rules.max_age, RecycleReason.AGE),
        (vitals.tasks >= rules.max_tasks, RecycleReason.TASKS),
        (is_idle, RecycleReason.IDLE),
    )
    reason = next((reason for is_true, reason in signs if is_true), None)
    return None if reason is None else Recycle(reason, at_once=False)
