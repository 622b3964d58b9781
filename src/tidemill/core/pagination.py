"""Following a list over its pages: which page comes next, and where and why following stops."""

from collections.abc import Collection

import msgspec

from tidemill.core.pacing import is_exception
from tidemill.core.urls import BadUrl, canonicalize, hostname, normalize, registrable_domain


class Follow(msgspec.Struct, frozen=True):
    """The list goes on at `url`, which is its page `number`."""

    url: str
    number: int


class Stop(msgspec.Struct, frozen=True):
    """The list is not followed any further; `cut` when it goes on all the same, so that its end was not seen."""

    reason: str
    cut: bool = False


END = Stop("the list ends here")


def following(
    number: int, next_url: str | None, host: str, seen: Collection[str], most: int, *, has_enough: bool = False
) -> Follow | Stop:
    """What comes after page `number` of a list.

    `seen` holds the canonical addresses of the pages so far: a list that leads back to one of them has been seen
    whole. A list that goes on past `most` pages, past as many records as were wanted (`has_enough`), or on a site
    that is not `host`'s, was cut short.
    """
    if not next_url:
        return END
    try:
        url = normalize(next_url).partition("#")[0]
        elsewhere = hostname(url) != host and (is_exception(host) or registrable_domain(url) != host)
    except BadUrl:
        return Stop(f"the next page has no address that can be asked: {next_url[:200]!r}", cut=True)
    if elsewhere:
        return Stop(f"the next page is on another site: {url[:200]}", cut=True)
    if canonicalize(url) in seen:
        return Stop("the next page was seen before")
    if number >= most or has_enough:
        words = "as many records as are wanted were seen" if has_enough else f"no more than {most} pages are followed"
        return Stop(words, cut=True)
    return Follow(url, number + 1)


def has_enough(number: int, shown: int, wanted: int | None) -> bool:
    """Whether the pages up to `number` hold what is wanted, if they are all as long as this one.

    A page that leads to another is full, so that what it shows is what those before it showed.
    """
    return wanted is not None and number * shown >= wanted
