"""What a feed lists: its bytes are anybody's, so it is read where that cannot hurt."""

from collections.abc import Mapping

import msgspec

from tidemill.core.vertical import Vertical
from tidemill.pipeline.reader_functions.function import ReaderFunction
from tidemill.reading.feeds.listing import FeedListing, read_feed


class FeedBody(msgspec.Struct, frozen=True):
    """A feed as it came, and the character set that its server told."""

    body: bytes
    charset: str | None = None


def _listed(asked: FeedBody, _verticals: Mapping[str, Vertical]) -> FeedListing:
    return read_feed(asked.body, asked.charset)


FEED_LISTED = ReaderFunction("feed.listed", FeedBody, FeedListing, _listed)
