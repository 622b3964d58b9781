"""The audit log's entries: what a person did."""

from collections.abc import Mapping
from typing import Any

import msgspec


class AuditEntry(msgspec.Struct, frozen=True):
    """Who did what to which thing: `source.disable` on `source jazzclub`, with what else matters as `detail`."""

    actor: str
    action: str
    subject: str
    detail: Mapping[str, Any] = msgspec.field(default_factory=dict)
