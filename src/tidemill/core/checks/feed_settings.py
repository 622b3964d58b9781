"""The setting `feeds` of a source: addresses that list its pages, each of which becomes a target."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tidemill.core.checks.suggestions import unknown_name

FEEDS = "feeds"
MOST_FEEDS = 20
MOST_PAGES = 10_000
"""Pages taken of one feed, unless it is told otherwise; also the most that it may be told."""
LONGEST_ADDRESS = 2_000


class Feed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A feed of a source. Only pages whose path begins with `under` become targets, and no more than `most`."""

    url: str
    under: str = "/"
    most: int = MOST_PAGES

    def takes(self, address: str) -> bool:
        """Return whether a page that the feed lists is wanted."""
        return (urlsplit(address).path or "/").startswith(self.under)


def feeds_of(settings: Mapping[str, Any]) -> list[Feed]:
    """Return the feeds among a source's settings, each an address or a mapping with one."""
    listed = settings.get(FEEDS)
    if not isinstance(listed, list | tuple):
        return []
    return [Feed(each) if isinstance(each, str) else msgspec.convert(each, Feed) for each in listed]


def feed_list(value: object) -> str:
    """Check the setting: a list of addresses, or of mappings with `url`, `under` and `most`."""
    if not isinstance(value, list) or not value:
        return "write a list of addresses, such as [/sitemap.xml]"
    if len(value) > MOST_FEEDS:
        return f"a source has at most {MOST_FEEDS} feeds; an index of sitemaps is one"
    return next((problem for each in value if (problem := _problem_with(each))), "")


def _problem_with(each: object) -> str:
    if isinstance(each, str):
        return _problem_with_feed(Feed(each))
    if not isinstance(each, Mapping):
        return "write an address, or a mapping with `url`"
    if unknown := [name for name in each if name not in Feed.__struct_fields__]:
        return unknown_name("field", str(unknown[0]), Feed.__struct_fields__)
    try:
        return _problem_with_feed(msgspec.convert(each, Feed))
    except msgspec.ValidationError as error:
        return str(error)


def _problem_with_feed(feed: Feed) -> str:
    if not feed.url.startswith(("http://", "https://", "/")) or len(feed.url) > LONGEST_ADDRESS:
        return f"{feed.url[:80]!r} is no address; write one such as /sitemap.xml"
    if not feed.under.startswith("/"):
        return f"`under` is how paths begin, such as /agenda/, not {feed.under[:80]!r}"
    return "" if 1 <= feed.most <= MOST_PAGES else f"`most` is 1 to {MOST_PAGES:,}, not {feed.most:,}"


BY_FEED = "feed "
_LONGEST_MAKER = 200


def maker_of(feed: str) -> str:
    """Return who is noted as the maker of a target that a feed brought."""
    return f"{BY_FEED}{feed}"[:_LONGEST_MAKER]


def is_from_feed(created_by: str | None) -> bool:
    """Return whether a feed brought a target, and no person or file."""
    return (created_by or "").startswith(BY_FEED)
