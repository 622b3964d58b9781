"""What passes from one stage to the next, and what is written down in between."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.breaker import Breaker, Closed
from tidemill.core.enrichment import EnrichmentRequest
from tidemill.core.job import Job, JobTransition
from tidemill.core.outcome import Outcome
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.verdict import Accepted, Dropped, Quarantined
from tidemill.pipeline.ports import FetchResult


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a worker's hands, with all that its gates need to know as of the claim.

    `booked_until` is the moment until which the host's pace was used up before this claim. `adapter_off` says who
    switched the target's adapter off and why; '' while it is on.
    """

    job: Job
    source: Source
    target: Target
    pace: Pace
    breaker: Breaker = Closed()
    booked_until: datetime | None = None
    worker_id: int = 0
    adapter_off: str = ""


class Fetched(msgspec.Struct, frozen=True):
    """Fetch to parse: the page as it will be stored, and how it was got."""

    page: Page
    result: FetchResult


class Unchanged(msgspec.Struct, frozen=True):
    """Fetch to the end: the same content as last time, so that everything on it counts as seen again."""

    page: Page
    result: FetchResult


class Served(msgspec.Struct, frozen=True):
    """Fetch to the end: nothing new could be got, and a stored page under a day old stands for it.

    What stands on it was read when it came, and is not seen again by this: `page` is empty and never stored.
    """

    page: Page
    result: FetchResult


class Parsed(msgspec.Struct, frozen=True):
    """Parse to normalize: the raw records of a page, and who read them."""

    page: Page
    adapter_id: str
    adapter_version: str
    found: Found


class Rejected(msgspec.Struct, frozen=True):
    """A raw record that will not be published, and why; `want` is the question whose answer would save it."""

    raw: RawRecord
    verdict: Dropped | Quarantined
    want: EnrichmentRequest | None = None


class Judged(msgspec.Struct, frozen=True):
    """Normalize to persist: every record of a page with its verdict."""

    page: Page
    reader: str
    accepted: Sequence[Accepted]
    rejected: Sequence[Rejected]
    truncated: bool = False
    total: int | None = None
    next_url: str | None = None


class AcceptedRecords(msgspec.Struct, frozen=True):
    """Persist to the repository: what readers will see, each identity once."""

    judged: Judged
    records: Sequence[Accepted]
    repeated: int


class Checkpoint(msgspec.Struct, frozen=True):
    """A stage's answer with the move that it leads to: what one place writes in one transaction."""

    claimed: Claimed
    outcome: Outcome
    transition: JobTransition


class WriteCounts(msgspec.Struct, frozen=True):
    """What became of a page's records on the repository.

    A repository that knows more than the rules may still turn accepted ones away: `dropped` because the run brought
    them already, `held` until a second reading or a person confirms them.
    """

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    dropped: int = 0
    held: int = 0


class Shift(msgspec.Struct, frozen=True):
    """A breaker that changed state."""

    source_id: int
    before: str
    after: str
    until: datetime | None


class Committed(msgspec.Struct, frozen=True):
    """What a commit did: which jobs still were ours, which runs ended, which breakers moved, what was kept.

    `followed` is how many further pages of lists are now jobs of their own.
    """

    held: frozenset[int]
    finished_runs: tuple[int, ...] = ()
    shifts: tuple[Shift, ...] = ()
    kept: Mapping[int, WriteCounts] = msgspec.field(default_factory=dict)
    followed: int = 0


class Resumed(msgspec.Struct, frozen=True):
    """A job taken up again where its last checkpoint left it, with the input read back from the database."""

    claimed: Claimed
    material: Any
