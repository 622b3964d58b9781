"""A stage's outcome: advance, snooze or fail. Stages write nothing; the worker writes the outcome."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.services.degradation import Service


class Stage(StrEnum):
    """A job's stage; the value is stored in `pipeline_jobs.current_stage`. A watch of the live lane has but one."""

    FETCH = "fetch"
    PARSE = "parse"
    NORMALIZE = "normalize"
    PERSIST = "persist"
    WATCH = "watch"
    COMPLETED = "completed"
    DEAD_LETTER = "dead_letter"


class Advance(msgspec.Struct, frozen=True):
    """The stage is done: write `produced` (the next stage's input) and move the job `to` there.

    `degraded` names the services that were unavailable, as in the other outcomes. `from_stored_page` says that the
    source was not reached and a stored page was used instead.
    """

    to: Stage
    produced: Any
    degraded: tuple[Service, ...] = ()
    from_stored_page: bool = False


class Snooze(msgspec.Struct, frozen=True):
    """Try again at `until`. Waiting spends no attempt and holds no worker.

    `whole_host` says that no job may ask the host before then.
    """

    until: datetime
    reason: str
    whole_host: bool = False
    degraded: tuple[Service, ...] = ()


class Fail(msgspec.Struct, frozen=True):
    """The stage failed. `retry_after` is what the site asked for; the retry policy decides the rest.

    `evidence` is what was received before the failure (a block page, half a body), stored for diagnosis.
    """

    failure: Failure
    detail: str = ""
    retry_after: timedelta | None = None
    stack: str = ""
    evidence: Any = None
    degraded: tuple[Service, ...] = ()


Outcome = Advance | Snooze | Fail
