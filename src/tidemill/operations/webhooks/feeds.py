"""Feeds of changes that a vertical offers: what subscribers are told of, and by what they choose."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import msgspec

from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.views.changes import FeedView, RecordChange
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.webhooks import Notice


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One change of a feed with the notices that it gives, none or several; `seq` is where the feed goes on."""

    seq: int
    notices: Sequence[Notice]


def _covers_all(notice: Notice, only: Any) -> bool:  # noqa: ARG001 - a feed that cannot be narrowed looks at nothing
    return True


class NoFilters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A feed that is not narrowed but by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFeed:
    """Changes in the order in which they became visible.

    `kinds` are the kinds of notice, each in a sentence; `filters` is the type whose fields narrow the feed, and
    `covers` whether a notice is within them. `after` reads the changes after a number, `newest` is the last number.
    """

    name: str
    kinds: Mapping[str, str]
    newest: Callable[[], Awaitable[int]]
    after: Callable[[int, int], Awaitable[Sequence[FeedEntry]]]
    filters: type[msgspec.Struct] = NoFilters
    covers: Callable[[Notice, Any], bool] = _covers_all

    @property
    def view(self) -> FeedView:
        """What people are shown of it."""
        return FeedView(name=self.name, kinds=self.kinds, filters=self.filters.__struct_fields__)

    def parse_filters(self, only: Mapping[str, Any]) -> Any:
        """Return what narrows the feed; raise `Mistake` for what it has not or cannot use."""
        for name in only:
            if name not in self.filters.__struct_fields__:
                raise Mistake(unknown_name("filter", name, self.filters.__struct_fields__))
        try:
            return msgspec.convert(only, self.filters, strict=False)
        except msgspec.ValidationError as error:
            msg = f"a filter of {self.name} cannot be used: {error}"
            raise Mistake(msg) from error

    def notice(self, seq: int, kind: str, at: datetime, change: Any) -> Notice:
        """Return a notice of one of its changes."""
        return Notice(key=f"{self.name}-{seq}-{kind}", feed=self.name, kind=kind, at=at, change=change)


class ReadsChanges(Protocol):
    """Reads the changes of published records."""

    async def newest(self) -> int:
        """Return the last number that was given out."""
        ...

    async def after(self, cursor: int, limit: int) -> list[RecordChange]:
        """Return the changes after a number."""
        ...


class OneRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What narrows a feed of records: one record, or those of a group such as a market or a category."""

    record_id: int | None = None
    group: str | None = None


def record_feed(vertical: str, reads: ReadsChanges, kinds: Mapping[str, str]) -> ChangeFeed:
    """Return the feed of a vertical whose changes stand in the shared table."""

    async def after(cursor: int, limit: int) -> list[FeedEntry]:
        found = await reads.after(cursor, limit)
        return [FeedEntry(each.seq, [feed.notice(each.seq, each.kind, each.at, each)]) for each in found]

    feed = ChangeFeed(
        name=vertical, kinds=kinds, newest=reads.newest, after=after, filters=OneRecord, covers=_is_of_record
    )
    return feed


def _is_of_record(notice: Notice, only: OneRecord) -> bool:
    change: RecordChange = notice.change
    return only.record_id in {None, change.record_id} and only.group in {None, change.group}
