"""The outputs of stages and the checkpoints that are written between them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.breaker import Breaker, Closed
from tidemill.core.job import Job, JobTransition
from tidemill.core.outcome import Outcome
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.quality.readings import PoorerReading, ReadingShape
from tidemill.core.record import RawRecord
from tidemill.core.services.enrichment import EnrichmentRequest
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.verdict import Accepted, Dropped, Quarantined
from tidemill.pipeline.kept_readings import KeptReading
from tidemill.pipeline.ports import FetchResult, OpenPage


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """A leased job, with everything that its gates need, as of the claim.

    `booked_until` is the moment until which the host's pace was used up before this claim. `adapter_off` says who
    switched the target's adapter off and why; '' while it is on. A page that is polled is kept open as `keep_open`
    where it needs a browser.
    `accepted_version` is the version of that adapter that may write records; '' before one was recorded.
    """

    job: Job
    source: Source
    target: Target
    pace: Pace
    breaker: Breaker = Closed()
    booked_until: datetime | None = None
    worker_id: int = 0
    adapter_off: str = ""
    keep_open: OpenPage | None = None
    accepted_version: str = ""


class Fetched(msgspec.Struct, frozen=True):
    """Fetch's output for parse: the page as it will be stored, and the fetch result."""

    page: Page
    result: FetchResult


class Unchanged(msgspec.Struct, frozen=True):
    """Fetch's output for an unchanged page: every record on it counts as seen again."""

    page: Page
    result: FetchResult


class ServedFromStore(msgspec.Struct, frozen=True):
    """Fetch's output when the page could not be fetched and a stored one, under a day old, is used instead.

    Its records were read when it was stored and do not count as seen again: `page` is empty and never stored.
    """

    page: Page
    result: FetchResult


class Rejected(msgspec.Struct, frozen=True):
    """A raw record that is not published, and why; `request` is a question whose answer could make it acceptable."""

    raw: RawRecord
    verdict: Dropped | Quarantined
    request: EnrichmentRequest | None = None


class Verdicts(msgspec.Struct, frozen=True):
    """The verdicts on a page's records."""

    accepted: Sequence[Accepted]
    rejected: Sequence[Rejected]


class Parsed(msgspec.Struct, frozen=True):
    """Parse's output for normalize: the raw records of a page as they are stored, and the adapter that read them.

    `verdicts` come along when the page was read just now; a resumed job's records are judged again. `read_seconds` is
    how long a reader took for the page.
    """

    page: Page
    adapter_id: str
    adapter_version: str
    found: KeptReading
    verdicts: Verdicts | None = None
    read_seconds: float = 0.0


class Judged(msgspec.Struct, frozen=True):
    """Normalize's output for persist: every record of a page with its verdict.

    `unusable` says that the page had records and none could be accepted, for what they are. `shape` is how it was
    read, and `poorer` what that is worse in than the last good page of its target.
    """

    page: Page
    reader: str
    accepted: Sequence[Accepted]
    rejected: Sequence[Rejected]
    truncated: bool = False
    total: int | None = None
    next_url: str | None = None
    unusable: bool = False
    shape: ReadingShape | None = None
    poorer: PoorerReading | None = None


class AcceptedRecords(msgspec.Struct, frozen=True):
    """Persist's output for the repository: the accepted records, each identity once."""

    judged: Judged
    records: Sequence[Accepted]
    repeated: int


class Checkpoint(msgspec.Struct, frozen=True):
    """A stage's outcome and the job's transition, written in one transaction."""

    claimed: Claimed
    outcome: Outcome
    transition: JobTransition


class WriteCounts(msgspec.Struct, frozen=True):
    """What the repository did with a page's records.

    A repository may still reject accepted records: `dropped` because the run brought
    them already, `held_back` until a second reading or a person confirms them.
    """

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    dropped: int = 0
    held_back: int = 0


class BreakerChange(msgspec.Struct, frozen=True):
    """A breaker's change of state."""

    source_id: int
    before: str
    after: str
    until: datetime | None


class Committed(msgspec.Struct, frozen=True):
    """The result of a commit: jobs whose lease still held, runs that ended, breakers that changed, records written.

    `followed` is how many further pages of lists became jobs.
    """

    still_leased: frozenset[int]
    finished_runs: tuple[int, ...] = ()
    breaker_changes: tuple[BreakerChange, ...] = ()
    kept: Mapping[int, WriteCounts] = msgspec.field(default_factory=dict)
    followed: int = 0


class Resumed(msgspec.Struct, frozen=True):
    """A job resumed after its last checkpoint, with its stage's input read from the database."""

    claimed: Claimed
    stage_input: Any
