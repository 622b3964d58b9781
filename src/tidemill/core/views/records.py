"""The history of records, the rejected ones, and the pages that records came from."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.views.work import ReadingView


class BadCursor(ValueError):
    """A place in a list that was not given by us; leave it out to start at the beginning."""


LARGEST_KEY = 2**63 - 1
"""Keys are 64-bit; anything above would be the database's error instead of ours."""


def is_key(text: str) -> bool:
    """Return whether a text is a number that can be a key."""
    return text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_KEY  # noqa: PLR2004 - digits


def key_place(text: str | None) -> int:
    """Return the key after which a list in order of key goes on; raise `BadCursor` for what is none."""
    if text is None:
        return 0
    if not is_key(text):
        msg = f"{text[:60]!r} is not a place in this list; leave it out to start at the beginning"
        raise BadCursor(msg)
    return int(text)


class HistoryView(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a record: field by field what it was and what it is.

    `replay_id` names the replay that corrected it; the record was not seen then.
    """

    id: int
    kind: str
    changes: Mapping[str, Any]
    run_id: int
    page_id: int | None
    created_at: datetime
    replay_id: int | None = None


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page, without its body."""

    id: int
    job_id: int
    source_id: int
    source_name: str
    target_id: int
    url: str
    final_url: str
    status_code: int
    content_type: str
    charset: str
    fetcher: str
    duration_ms: int
    length: int
    failure: str | None
    created_at: datetime


class PageDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page with what was made of it."""

    page: PageView
    reading: ReadingView | None


class RejectedView(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was dropped or set aside, and why."""

    id: int
    job_id: int
    run_id: int
    source_id: int
    source_name: str
    page_id: int
    position: int
    vertical: str
    verdict: str
    reason: str
    detail: str
    raw: Mapping[str, Any]
    created_at: datetime


class RejectedFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rejected records; None means any."""

    source_id: int | None = None
    run_id: int | None = None
    page_id: int | None = None
    verdict: str | None = None
    reason: str | None = None
