"""Browsers as a person sees them: pools, what they lend, what was replaced."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from tidemill.core.services.recycling import Vitals


class BrowserState(msgspec.Struct, frozen=True, kw_only=True):
    """A browser of a pool."""

    pid: int
    driver_pid: int
    version: str
    is_leaving: bool
    vitals: Vitals


class PoolState(msgspec.Struct, frozen=True, kw_only=True):
    """A pool: its browsers, contexts in use per host, those at rest, who waits, and what was replaced so far."""

    browsers: tuple[BrowserState, ...] = ()
    in_use: Mapping[str, int] = msgspec.field(default_factory=dict)
    at_rest: int = 0
    waiting: int = 0
    recycled: Mapping[str, int] = msgspec.field(default_factory=dict)


class PoolView(msgspec.Struct, frozen=True, kw_only=True):
    """The pool of one process, as it stood at `seen_at`."""

    process: str
    seen_at: datetime
    state: PoolState


class RecycleRequest(msgspec.Struct, frozen=True):
    """A person wants every browser replaced."""

    at: datetime
    by: str
