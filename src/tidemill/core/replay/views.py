"""Replays and changes of reading as they are kept and shown."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.replay.reading_version import reading_version
from tidemill.core.replay.report import ReplayReport


class ReplayStatus(StrEnum):
    """Where a replay stands: still reading, done, or ended by a mistake."""

    RUNNING = "running"
    DONE = "done"


class ChangeStatus(StrEnum):
    """Where a change of reading stands.

    `CHECKING` waits for its replay, `WAITING` for a person; `PASSED` went through by itself. `UNPROVEN`, `PROVEN` and
    `DOUBTFUL` belong to a replay that somebody asked for, and nothing is changed before it is accepted: it has compared
    no record (yet), it is within what passes the gate, or it is beyond that.
    """

    CHECKING = "checking"
    WAITING = "waiting"
    PASSED = "passed"
    UNPROVEN = "unproven"
    PROVEN = "proven"
    DOUBTFUL = "doubtful"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    SUPERSEDED = "superseded"


class ReadingChangeKind(StrEnum):
    """What a change is of: an adapter's version, a source's selectors, or the selectors that a source had before."""

    VERSION = "version"
    SELECTORS = "selectors"
    ROLLBACK = "rollback"


class ReplayScope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which pages are read again, and with what: exactly one of `source`, `adapter` and `vertical` is named.

    Pages fetched after `until` are not in it: they came while the replay was reading. `selectors` stand in for those of
    the source, `reader` is the name of the adapter that stands in for the target's own. With `only_read`, pages that
    nobody read then (they had not changed since an earlier one) are not counted among the newest.
    """

    source: str = ""
    adapter: str = ""
    vertical: str = ""
    since: datetime | None = None
    until: datetime | None = None
    pages: int = 5_000
    selectors: Mapping[str, Any] | None = None
    reader: str = ""
    only_read: bool = False

    @property
    def words(self) -> str:
        """What it covers, in words."""
        named = {"source": self.source, "adapter": self.adapter, "vertical": self.vertical}
        return next((f"{kind} {name}" for kind, name in named.items() if name), "")


class ReplayView(msgspec.Struct, frozen=True, kw_only=True):
    """A replay as it is listed; `digest` is that of its report."""

    id: int
    scope: ReplayScope
    status: ReplayStatus
    pages_total: int
    pages_done: int
    digest: str
    change: ChangeStatus
    held_because: Sequence[str]
    cost: Mapping[str, float]
    created_at: datetime
    created_by: str
    ended_at: datetime | None
    decided_at: datetime | None
    decided_by: str
    applied_at: datetime | None
    applied_by: str
    applied: Mapping[str, int]
    reverted_at: datetime | None
    reverted_by: str

    @property
    def state_words(self) -> str:
        """Where it stands as a change, and whether it is in the records."""
        if self.reverted_at is not None:
            return f"{self.change}, reverted"
        return f"{self.change}, applied" if self.applied_at is not None else str(self.change)


class ReplayWithReport(msgspec.Struct, frozen=True, kw_only=True):
    """A replay and its report; None while it is still reading."""

    replay: ReplayView
    report: ReplayReport | None


class ReadingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of reading that goes through the gate."""

    id: int
    kind: ReadingChangeKind
    adapter_id: str
    source_id: int | None
    source_name: str
    before: Any
    after: Any
    status: ChangeStatus
    replay_id: int | None
    held_because: Sequence[str]
    created_at: datetime
    created_by: str
    decided_at: datetime | None
    decided_by: str


def is_of_code(change: ReadingChange) -> bool:
    """Return whether only the code of a version changed, not the version itself."""
    if change.kind is not ReadingChangeKind.VERSION:
        return False
    return reading_version(str(change.before)).version == reading_version(str(change.after)).version
