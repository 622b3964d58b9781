"""What a stage answers: go on, wait, or fail. Stages write nothing; one place carries the answer out."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.degradation import Service
from tidemill.core.failure import Failure


class Stage(StrEnum):
    """Where a job is on its way; the value stands in `pipeline_jobs.current_stage`."""

    FETCH = "fetch"
    PARSE = "parse"
    NORMALIZE = "normalize"
    PERSIST = "persist"
    COMPLETED = "completed"
    DEAD_LETTER = "dead_letter"


class Advance(msgspec.Struct, frozen=True):
    """The stage is done: write `produced` (the next stage's input) and move the job `to` there.

    `degraded` names the services that it had to do without; so in the other answers. `from_stored_page` says that the
    source itself was not heard: a stored page stood in for it.
    """

    to: Stage
    produced: Any
    degraded: tuple[Service, ...] = ()
    from_stored_page: bool = False


class Snooze(msgspec.Struct, frozen=True):
    """Not now: come back at `until`. Waiting spends no attempt and holds no worker.

    `whole_host` says that nobody need ask the host before then, for this job or another.
    """

    until: datetime
    reason: str
    whole_host: bool = False
    degraded: tuple[Service, ...] = ()


class Fail(msgspec.Struct, frozen=True):
    """It went wrong. `retry_after` is the site's own wish; the retry policy decides the rest.

    `evidence` is what was got before it went wrong (a block page, a half body): stored for whoever looks.
    """

    failure: Failure
    detail: str = ""
    retry_after: timedelta | None = None
    stack: str = ""
    evidence: Any = None
    degraded: tuple[Service, ...] = ()


Outcome = Advance | Snooze | Fail
