"""Proposals: new selectors for a page whose old ones no longer match, for a person to accept."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.source import Source


class ProposalStatus(StrEnum):
    """Where a proposal stands; `NONE` is a page that was looked at and for which nothing can be proposed."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    NONE = "none"


class DriftedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A target whose page yielded no records, or was read worse, with the records of its last good page."""

    source: Source
    target_id: int
    adapter_id: str
    page: Page
    good_page_id: int
    good_at: datetime
    known: Sequence[RawRecord]
    is_poorer: bool = False


class SelectorProof(msgspec.Struct, frozen=True, kw_only=True):
    """What proposed selectors read on the last good pages, held to what was kept of these then.

    Of the records that they read `precision` is the share that is the same as then, and of those of then `recall` is
    the share that they read again. `replay_id` is the report, page by page.
    """

    pages: int
    precision: float
    recall: float
    replay_id: int

    @property
    def words(self) -> str:
        """It in words."""
        return f"on {self.pages} good pages precision is {self.precision:.1%} and recall {self.recall:.1%}"


class SelectorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of comparing a page with the last good one; without `after` there is nothing to propose."""

    drifted: DriftedTarget
    diagnosis: str
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None = None
    confidence: float = 0.0
    lost: tuple[str, ...] = ()
    proof: SelectorProof | None = None


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as it is kept and shown."""

    id: int
    source_id: int
    source_name: str
    target_id: int
    url: str
    page_id: int
    good_page_id: int
    status: ProposalStatus
    diagnosis: str
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None
    confidence: float
    lost: Sequence[str]
    created_at: datetime
    precision: float | None
    recall: float | None
    replay_id: int | None
    decided_at: datetime | None
    decided_by: str
