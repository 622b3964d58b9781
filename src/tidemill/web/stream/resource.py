"""What a vertical says of its things so that they can be listed, read and streamed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec

Summarize = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class StreamedResource(msgspec.Struct, frozen=True, kw_only=True):
    """The things of one vertical under one address.

    `name` is what one of them is called in events and in the query (`match`), `path` where they are
    (`/api/v1/matches`), `group` the name by which lists are narrowed beside the status (`series`). Things in
    `live_statuses` should be checked every few seconds, and go stale. A list shows the `summary_fields` of each state.
    """

    vertical: str
    name: str
    path: str
    live_statuses: frozenset[str] = frozenset({"live"})
    group: str = "group"
    summary_fields: Sequence[str] = ("title", "status")


class CheckState(msgspec.Struct, frozen=True):
    """When a thing was last checked, by which context, and why it is not checked more often ('' for no reason)."""

    checked_at: datetime | None = None
    scraper_id: str = ""
    trouble: str = ""


class CheckTimes(Protocol):
    """Tells from memory when things were last checked, whichever process checks them."""

    def check_of(self, vertical: str, key: str) -> CheckState | None:
        """Return when a thing was last checked; None if no living process watches it."""
        ...


class NoChecks:
    """Nobody watches anything: things are as old as their last change."""

    def check_of(self, vertical: str, key: str) -> CheckState | None:
        """Return None."""
        del vertical, key
        return None
