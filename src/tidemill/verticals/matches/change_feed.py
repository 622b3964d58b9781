"""What subscribers are told of matches: the entries of the log, in the order of their commits."""

import msgspec

from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.changes import LoggedChange
from tidemill.operations.webhooks.feeds import ChangeFeed, FeedEntry
from tidemill.pipeline.webhooks import Notice
from tidemill.store.snapshots.reads import SnapshotReads

KINDS = {
    ChangeKind.DELTA.value: "A match moved on: `patch` leads from the state before to this one.",
    ChangeKind.CORRECTION.value: "The source took something back.",
    ChangeKind.STATUS.value: "A match began, paused, went on or ended.",
}


class MatchFilters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What narrows the feed: one match."""

    match: str | None = None


def match_feed(snapshots: SnapshotReads) -> ChangeFeed:
    """Return the feed of matches."""

    async def after(cursor: int, limit: int) -> list[FeedEntry]:
        found = await snapshots.logged_after(cursor, limit, vertical="matches")
        return [
            FeedEntry(each.offset, [feed.notice(each.offset, each.kind.value, each.logged_at, _told(each))])
            for each in found
        ]

    feed = ChangeFeed(
        name="matches", kinds=KINDS, newest=snapshots.head, after=after, filters=MatchFilters, covers=_covers
    )
    return feed


def _covers(notice: Notice, only: MatchFilters) -> bool:
    return only.match in {None, notice.change["match"]}


def _told(change: LoggedChange) -> dict[str, object]:
    return {
        "offset": change.offset, "match": change.thing.key, "seq": change.seq, "status": change.status,
        "patch": msgspec.Raw(change.patch.encode()), "checksum": change.checksum, "source": change.source,
        "changed_at": change.changed_at,
    }  # fmt: skip
