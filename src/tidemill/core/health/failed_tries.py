"""Failed tries: what `scraper_errors` keeps of each, and how each was over in the end."""

from datetime import datetime
from enum import StrEnum

import msgspec

from tidemill.core.failure import MEANING, Failure, FaultOwner

LONGEST_MESSAGE = 1_000
LONGEST_STACK = 4_000


class ResolutionMethod(StrEnum):
    """What ended a failure: the next try, a breaker that let the site rest, a person, or a restart."""

    AUTO_RETRY = "auto_retry"
    CIRCUIT_BREAKER = "circuit_breaker"
    MANUAL = "manual"
    RESTART = "restart"


class FailedTry(msgspec.Struct, frozen=True, kw_only=True):
    """One try that failed: by which context, on what, and while doing what (`fetch`, `parse`, ...)."""

    scraper_id: str
    at: datetime
    failure: Failure
    operation: str
    thing_key: str = ""
    message: str = ""
    stack: str = ""
    url: str = ""
    attempt: int = 0

    @property
    def error_type(self) -> FaultOwner:
        """Whose failure it is, from the one table of what failures mean."""
        return MEANING[self.failure].fault


class Resolution(msgspec.Struct, frozen=True):
    """The end of all failures of a context up to a moment."""

    scraper_id: str
    at: datetime
    method: ResolutionMethod
