"""Matches as people ask for them and get them."""

from datetime import datetime

import msgspec


class MappedId(msgspec.Struct, frozen=True, kw_only=True):
    """What a source calls a match; `doubt` waits for a person unless somebody settled it."""

    source: str
    source_key: str
    match_key: str
    url: str
    doubt: str
    settled_by: str
    first_seen_at: datetime


class KnownMatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """A match as it was first listed."""

    key: str
    title: str
    series: str
    match_type: str
    starts_at: datetime | None
    merged_into: str
    created_at: datetime


class ConflictView(msgspec.Struct, frozen=True, kw_only=True):
    """Two sites that disagreed on a match's runs or wickets."""

    match_key: str
    innings: int
    field: str
    shown_source: str
    shown_value: int
    other_source: str
    other_value: int
    found_at: datetime


class MatchPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page that tells of a match, as it is watched."""

    source: str
    url: str
    is_enabled: bool
    checked_at: datetime | None = None
    debt_seconds: float = 0.0
