"""Following a paginated list and the pages of its entries: which page comes next, or why there is none."""

import hashlib
from collections.abc import Collection, Sequence

import msgspec

from tidemill.core.pacing import has_own_pace
from tidemill.core.urls import BadUrl, canonicalize, hostname, normalize, registrable_domain


class NextPage(msgspec.Struct, frozen=True):
    """The next page of the list: its URL and number."""

    url: str
    number: int


FOLLOWED = 1_000_000
"""Followed pages have numbers from here on, each by its address: a list has fewer pages."""
_NUMBERS = 2_000_000_000


class EndOfList(msgspec.Struct, frozen=True):
    """No further page is fetched; `truncated` when the list has more pages, so that its end was not seen."""

    reason: str
    truncated: bool = False


LIST_ENDED = EndOfList("the list ends here")


def next_page(
    number: int, next_url: str | None, host: str, seen: Collection[str], max_pages: int, *, has_enough: bool = False
) -> NextPage | EndOfList:
    """Return the page after page `number` of a list, or why there is none.

    `seen` holds the canonical URLs of the pages so far: a list that links back to one of them has been seen
    whole. A list that goes on past `max_pages` pages, past as many records as were wanted (`has_enough`), or on a site
    that is not `host`'s, was cut short.
    """
    if not next_url:
        return LIST_ENDED
    try:
        url = normalize(next_url).partition("#")[0]
        elsewhere = hostname(url) != host and (has_own_pace(host) or registrable_domain(url) != host)
    except BadUrl:
        return EndOfList(f"the next page has no address that can be asked: {next_url[:200]!r}", truncated=True)
    if elsewhere:
        return EndOfList(f"the next page is on another site: {url[:200]}", truncated=True)
    if canonicalize(url) in seen:
        return EndOfList("the next page was seen before")
    if number >= max_pages or has_enough:
        words = (
            "as many records as are wanted were seen" if has_enough else f"no more than {max_pages} pages are followed"
        )
        return EndOfList(words, truncated=True)
    return NextPage(url, number + 1)


def onward_addresses(next_url: str | None, follow: Sequence[str]) -> str | None:
    """Return where a page leads in one text: the next page of the list on the first line, the others behind it."""
    lines = [next_url or "", *(each for each in follow if "\n" not in each)]
    return "\n".join(lines) if any(lines) else None


def split_onward(addresses: str) -> tuple[str | None, list[str]]:
    """Return the next page of the list, and the other pages, of a text by `onward_addresses`."""
    first, *others = addresses.split("\n")
    return first or None, others


def followed_page(address: str, host: str, seen: Collection[str], pages: int, max_pages: int) -> NextPage | EndOfList:
    """Return a page that another page leads to, or why it is not asked for.

    Its number comes from its address, so that it is asked for once however many pages lead to it, and is compared with
    itself in the next run. `pages` is how many there are of this target so far.
    """
    step = next_page(1, address, host, seen, max_pages + 1)
    if isinstance(step, EndOfList):
        return step
    if pages >= max_pages:
        return EndOfList(f"no more than {max_pages} pages are followed", truncated=True)
    digest = hashlib.sha256(canonicalize(step.url).encode()).digest()
    note = address.partition("#")[2]
    number = FOLLOWED + int.from_bytes(digest[:8]) % _NUMBERS
    return NextPage(f"{step.url}#{note}" if note else step.url, number)


def has_enough(number: int, shown: int, wanted: int | None) -> bool:
    """Return whether the pages up to `number` hold `wanted` records, if they are all as long as this one.

    A page that has a next page is full, so that the pages before it have as many records.
    """
    return wanted is not None and number < FOLLOWED and number * shown >= wanted
