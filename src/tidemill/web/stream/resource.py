"""What a vertical says of its things so that they can be listed, read and streamed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidemill.core.snapshots.changes import LabelsOf

Summarize = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class StreamedResource(msgspec.Struct, frozen=True, kw_only=True):
    """The things of one vertical under one address.

    `name` is what one of them is called in events and in the query (`match`), `path` where they are
    (`/api/v1/matches`), `group` the name by which lists are narrowed beside the status (`series`). `statuses` are all
    that there are; none where any text may be one. Things in `live_statuses` should be checked every few seconds, and
    go stale. A list shows the `summary_fields` of each state. `labels` tells what a list chooses a state by, which
    lists of the past need.
    """

    vertical: str
    name: str
    path: str
    statuses: tuple[str, ...] = ()
    live_statuses: frozenset[str] = frozenset({"live"})
    group: str = "group"
    summary_fields: Sequence[str] = ("title", "status")
    labels: LabelsOf | None = None


class CheckState(msgspec.Struct, frozen=True):
    """When a thing was last checked, by which context, and why it is not checked more often ('' for no reason).

    `rests` is how long it is left alone at a time because it is on a break, zero while it is not.
    """

    checked_at: datetime | None = None
    scraper_id: str = ""
    trouble: str = ""
    rests: timedelta = timedelta(0)


class CheckTimes(Protocol):
    """Tells from memory when things were last checked, whichever process checks them."""

    async def refresh(self) -> None:
        """Read again what is known; called each second, and raises nothing."""
        ...

    def check_of(self, vertical: str, key: str) -> CheckState | None:
        """Return when a thing was last checked; None if no living process watches it."""
        ...


class NoChecks:
    """Nobody watches anything: things are as old as their last change."""

    async def refresh(self) -> None:
        """Do nothing."""

    def check_of(self, vertical: str, key: str) -> CheckState | None:
        """Return None."""
        del vertical, key
        return None
