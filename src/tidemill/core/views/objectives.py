"""Objectives as people are shown them: how each stands, what burns it, and whom it leaves out."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.objectives.exclusion import ExcludedSource


class ObjectiveDay(msgspec.Struct, frozen=True):
    """A day of an objective: minutes looked at, and bad ones."""

    day: datetime
    counted: int
    bad: int


class ObjectiveView(msgspec.Struct, frozen=True, kw_only=True):
    """How an objective stands. `left_minutes` may be negative; `burning` names the alerts that it is told by now."""

    name: str
    vertical: str
    source: str
    words: str
    at: datetime | None
    active: int
    checked: int
    is_good: bool
    counted_minutes: int
    bad_minutes: int
    allowed_minutes: float
    left_minutes: float
    left_share: float
    burn: Mapping[str, float]
    burning: Sequence[str]
    days: Sequence[ObjectiveDay]
    excluded: Sequence[ExcludedSource]
