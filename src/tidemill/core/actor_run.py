"""An actor run: work that a job has begun elsewhere and comes back for."""

from datetime import datetime

import msgspec


class StartedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that a job of ours began, as we wrote it down; `reserved` is what was put aside for it."""

    job_id: int
    actor: str
    run_id: str
    dataset_id: str
    timeout_seconds: int
    reserved: int
    started_at: datetime
