"""An actor run at an outside service, which a job started and polls."""

from datetime import datetime

import msgspec


class StartedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A stored actor run; `reserved` is the part of the budget that was reserved for it."""

    job_id: int
    actor: str
    run_id: str
    dataset_id: str
    timeout_seconds: int
    reserved: int
    started_at: datetime
