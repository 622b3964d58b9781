"""A span: something that took from one moment to another, as tracing tools show it."""

from collections.abc import Mapping
from datetime import datetime

import msgspec


class TraceSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Something that took from one moment to another; `parent` is 0 for the run, which is the root."""

    trace: int
    number: int
    parent: int
    name: str
    begins: datetime
    ends: datetime
    attributes: Mapping[str, str | int | bool]
    failure: str = ""
